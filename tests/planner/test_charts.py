"""Charts are valid plotly figures, their labels can be read, and a gap stays a gap."""

import json
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import charts
from planner.charts.layout import LABEL_GAP_PX, spread
from planner.comparison.result import BreakEvenLine, WeekSeries
from tests.planner.comparisons import MONTHS, costs, make_comparison, make_line, make_measured, make_series


def all_figures(comparison):
    measured = comparison.series.measured
    figures = [charts.cumulative(comparison), *charts.served(comparison.series).values()]
    return [*figures, charts.weekly_use(measured, comparison.series.break_evens)]


def test_every_figure_passes_plotlys_own_check():
    for figure in all_figures(make_comparison()):
        go.Figure(figure)


def test_every_figure_is_json_without_nan():
    for figure in all_figures(make_comparison()):
        json.dumps(figure, allow_nan=False)


def test_no_text_carries_a_style_that_the_policy_would_drop():
    for figure in all_figures(make_comparison()):
        text = json.dumps(figure)
        assert not any(tag in text for tag in ("<b>", "<i>", "<span", "<a "))


def test_each_scenario_keeps_its_letter_its_dash_and_its_colour():
    figure = charts.cumulative(make_comparison())
    lines = {trace["name"][0]: trace["line"] for trace in figure["data"]}
    assert {letter: line["dash"] for letter, line in lines.items()} == {
        "A": "dot",
        "B": "dash",
        "C": "solid",
        "D": "longdashdot",
    }
    assert lines["D"]["color"] == "var(--scenario-d)"


def test_the_cheapest_line_is_the_widest():
    figure = charts.cumulative(make_comparison())
    widths = {trace["name"][0]: trace["line"]["width"] for trace in figure["data"]}
    assert max(widths, key=widths.get) == "C"


def test_the_hover_states_the_difference_to_the_base():
    figure = charts.cumulative(make_comparison())
    by_letter = {trace["name"][0]: trace["customdata"] for trace in figure["data"]}
    # first month: A pays 323,000; B 306,000, which is 17,000 less
    assert by_letter["A"][0] == "$323\u00a0k"
    assert by_letter["B"][0] == "$306\u00a0k (\u2212$17.0\u00a0k to A)"


def test_unknown_months_are_gaps_and_are_never_joined():
    values = tuple(None if 3 <= index < 6 else cost for index, cost in enumerate(costs("B")))
    series = make_series(cumulative=(make_line("A"), make_line("B", values)))
    figure = charts.cumulative(make_comparison(series=series))
    trace = figure["data"][1]
    assert trace["y"][3:6] == [None, None, None]
    assert trace["connectgaps"] is False


def test_a_scenario_without_any_known_cost_draws_no_label_and_no_zero():
    series = make_series(cumulative=(make_line("A"), make_line("B", (None,) * MONTHS)))
    figure = charts.cumulative(make_comparison(series=series))
    ends = [each["text"] for each in figure["layout"]["annotations"] if each["name"] == "end"]
    assert len(ends) == 1
    assert set(figure["data"][1]["y"]) == {None}


def test_nothing_known_is_no_figure():
    series = make_series(cumulative=(make_line("A", (None,) * MONTHS),))
    assert charts.cumulative(make_comparison(series=series)) is None


def test_weeks_without_measurement_interrupt_the_line():
    shares = (0.5, None, 0.6) * 4
    figure = charts.weekly_use(make_measured(fleet=WeekSeries("fleet", shares), pools=()), ())
    assert figure["data"][0]["y"][:3] == [50.0, None, 60.0]
    assert figure["data"][0]["connectgaps"] is False


def test_a_break_even_is_drawn_at_its_share_in_its_colour():
    figure = charts.weekly_use(make_measured(), (BreakEvenLine("C", 0.49, "C pays above 49 %"),))
    [shape] = figure["layout"]["shapes"]
    assert (shape["y0"], shape["y1"]) == (49.0, 49.0)
    assert shape["line"]["color"] == "var(--scenario-c)"


def test_the_small_charts_share_one_scale():
    tops = {tuple(figure["layout"]["yaxis"]["range"]) for figure in charts.served(make_series()).values()}
    [(low, high)] = tops
    # demand grows from 92 by 1.5 % a month for 35 months, and is the highest curve
    assert low == 0
    assert high > 92 * 1.015**35


def test_stacked_supplies_and_what_is_not_served_add_up_to_the_demand():
    series = make_series()
    for each in series.served:
        figure = charts.served(series)[each.letter]
        stacked = [trace["y"] for trace in figure["data"] if trace.get("stackgroup")]
        for index, demand in enumerate(each.demand):
            assert sum(values[index] for values in stacked) == pytest.approx(demand)


def test_what_is_not_served_is_hatched():
    figure = charts.served(make_series())["A"]
    [unmet] = [trace for trace in figure["data"] if trace.get("name") == "not served"]
    assert unmet["fillpattern"]["shape"] == "/"


def test_a_name_is_text_and_never_a_link_or_a_direction_mark():
    hostile = '<a href="https://example.org">x</a>&\u202e\x00'
    shown = charts.chart_text(hostile)
    assert "<" not in shown
    assert shown.startswith("&lt;a")
    assert not {"\u202e", "\x00"} & set(shown)


def placed_ends(figure):
    """Return where each direct label stands, in pixels from the lower edge of the plot."""
    layout = figure["layout"]
    low, high = layout["yaxis"]["range"]
    plot_px = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    ends = [each for each in layout["annotations"] if each["name"] == "end"]
    return [(each["y"] - low) / (high - low) * plot_px + each["yshift"] for each in ends], plot_px


@pytest.mark.parametrize("ends", [(1e7, 1e7, 1e7, 1e7), (0, 0, 1e7, 1e7), (-3e6, 2e6, 2.01e6, 9e6)])
def test_direct_labels_stand_sixteen_pixels_apart_and_inside_the_plot(ends):
    lines = tuple(
        make_line(letter, tuple(end * (index + 1) / MONTHS for index in range(MONTHS)))
        for letter, end in zip("ABCD", ends, strict=True)
    )
    series = make_series(cumulative=lines)
    for figure in (
        charts.cumulative(make_comparison(series=series)),
        charts.weekly_use(make_measured(), make_series().break_evens, height_px=charts.PRINT_PX),
    ):
        places, plot_px = placed_ends(figure)
        ordered = sorted(places)
        assert all(high - low >= 15.9 for low, high in pairwise(ordered))
        assert ordered[0] >= -0.1
        assert ordered[-1] <= plot_px + 0.1


@given(
    st.lists(st.floats(min_value=-1e4, max_value=1e4), max_size=8),
    st.floats(min_value=LABEL_GAP_PX * 8, max_value=600),
)
def test_spread_keeps_order_and_distance_and_stays_inside(positions, height):
    placed = spread(positions, height)
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    ordered = [placed[index] for index in order]
    assert all(b - a >= LABEL_GAP_PX - 1e-6 for a, b in pairwise(ordered))
    assert all(-1e-6 <= position <= height + 1e-6 for position in placed)


def test_labels_that_fit_are_not_moved():
    assert spread([10.0, 40.0, 90.0], 200.0) == [10.0, 40.0, 90.0]


def test_the_table_beside_a_chart_holds_every_point():
    comparison = make_comparison()
    table = charts.cumulative_table(comparison)
    assert len(table.rows) == MONTHS
    # 36 months of 323,000
    assert table.rows[-1][1][0] == "$11,628,000"
    assert table.rows[0][0] == "Dec\u00a02026"


def test_the_label_of_a_chart_is_its_answer():
    label = charts.cumulative_label(make_comparison())
    assert "A $11.6\u00a0M" in label
    assert "C cheaper than A from Jun 2029" in label


def test_a_late_mark_leaves_the_ends_of_the_lines_free():
    late, early = make_series().marks
    for marks, side in (((late,), "right"), ((early,), "left")):
        figure = charts.cumulative(make_comparison(series=make_series(marks=marks)))
        [mark] = [each for each in figure["layout"]["annotations"] if each["name"] == "mark"]
        assert mark["xanchor"] == side


def test_only_the_facts_of_the_cheapest_are_written_on_the_chart():
    figure = charts.cumulative(make_comparison())
    marks = [each["text"] for each in figure["layout"]["annotations"] if each["name"].startswith("mark")]
    assert marks
    assert all(text.startswith("C") for text in marks)
