"""How files of plans are written: CSV by column type, JSON by hand, a mark on sample data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.comparison.result import Figure, SourceLine
from planner.core.explain import Explanation
from planner.csv_cells import DECIMAL_MARKS, SEPARATORS, csv_lines, file_number
from planner.csv_cells import Column as FileColumn

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
LONGEST_SLUGS = 48
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True)
class Style:
    """How a CSV is written: separator, decimal mark, byte order mark."""

    sep: str = ","
    dec: str = "."
    bom: bool = False


def read_style(get: Callable[[str, str], str]) -> Style:
    """Return the style that parameters ask for; what is not offered is left at its default."""
    sep, dec = get("sep", ","), get("dec", ".")
    style = Style(
        sep if sep in SEPARATORS else ",", dec if dec in DECIMAL_MARKS else ".", get("bom", "") == "1"
    )
    if style.sep == style.dec:
        return Style(";", style.dec, style.bom)
    return style


def as_csv(columns: Sequence[FileColumn], rows: Iterable[Sequence[Any]], style: Style) -> bytes:
    """Return a whole CSV file."""
    lines = csv_lines(columns, rows, style.sep, style.dec, style.bom)
    return "".join(lines).encode("utf-8", "backslashreplace")


def as_json(content: dict[str, Any]) -> bytes:
    """Return a JSON file, readable and with one value a line."""
    return msgspec.json.format(_encoder.encode(_clean(content)), indent=1) + b"\n"


def _clean(value: Any) -> Any:
    """Return the value with the numbers of the CSV and no lone surrogates, which JSON cannot carry."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_clean(key): _clean(one) for key, one in value.items()}
        case list() | tuple():
            return [_clean(one) for one in value]
        case _:
            return file_number(value)


def data_word(is_sample: bool) -> str:
    """Return the mark that every row carries: sample data are never taken for one's own."""
    return "sample" if is_sample else "own"


def figure_json(figure: Figure) -> dict[str, Any]:
    """Return a figure; `explain` is the key of its explanation in the same file, "" where it has none."""
    return {
        "value": figure.value,
        "text": figure.text,
        "reason": figure.reason,
        "explain": figure.explain,
    }


def explanations_json(explanations: Mapping[str, Explanation]) -> dict[str, Any]:
    """Return explanations by key: each figure can be worked out again from its inputs and expression."""
    return {key: _explanation_json(one) for key, one in explanations.items()}


def _explanation_json(one: Explanation) -> dict[str, Any]:
    return {
        "title": one.title,
        "sentence": one.sentence,
        "formula": one.formula,
        "value": one.value,
        "unit": one.unit,
        "expression": one.expression,
        "inputs": [
            {
                "name": each.name,
                "value": each.value,
                "text": each.text,
                "source": each.source,
                "symbol": each.symbol,
            }
            for each in one.inputs
        ],
    }


def source_json(line: SourceLine) -> dict[str, Any]:
    return {
        "supply": line.supply,
        "text": line.text,
        "as_of": line.as_of,
        "source_run": line.run_id,
        "typed_by": line.typed_by,
    }
