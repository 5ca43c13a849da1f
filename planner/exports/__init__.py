"""Files: the numbers of the screen, and where they come from in every row. Columns are listed by hand."""

from planner.exports.comparison import comparison_file, comparison_name
from planner.exports.files import FORMATS, Style, read_style
from planner.exports.scenario import LIST_COLUMNS, list_file_rows, result_file, result_name

__all__ = [
    "FORMATS",
    "LIST_COLUMNS",
    "Style",
    "comparison_file",
    "comparison_name",
    "list_file_rows",
    "read_style",
    "result_file",
    "result_name",
]
