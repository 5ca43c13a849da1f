"""Draw results as plain plotly dicts: the only code that knows plotly's format.

Gaps stay None and are never joined. Foreign text goes through chart_text().
"""

from planner.charts.cost import cumulative, cumulative_label
from planner.charts.layout import PRINT_PX, USE_PX, Figure, chart_text
from planner.charts.supply import served
from planner.charts.tables import Table, cumulative_table, served_table, use_table
from planner.charts.use import weekly_label, weekly_use

__all__ = [
    "PRINT_PX",
    "USE_PX",
    "Figure",
    "Table",
    "chart_text",
    "cumulative",
    "cumulative_label",
    "cumulative_table",
    "served",
    "served_table",
    "use_table",
    "weekly_label",
    "weekly_use",
]
