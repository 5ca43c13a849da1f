"""State how a new spelling of an accelerator comes in."""

from datetime import UTC, datetime

import pytest

from costs.rows import AliasRow, FileError
from costs.sources import aliases

from .readings import read_text

HEADER = "spelling,accelerator,note\n"


def test_a_new_spelling_is_a_row_not_a_release() -> None:
    reading = read_text("aliases", f"{HEADER}Hopper 8-way ,h100-sxm-80gb,our reseller's word\n", "names.csv")
    assert reading.rows == [
        AliasRow(spelling="Hopper 8-way", accelerator="h100-sxm-80gb", note="our reseller's word")
    ]
    assert reading.scopes == {"all"}


def test_the_template_is_a_file_that_is_taken_whole() -> None:
    reading = read_text("aliases", aliases.TEMPLATE, "template.csv")
    assert (len(reading.rows), reading.by_rule) == (2, {})


def test_columns_may_stand_in_any_order() -> None:
    reading = read_text("aliases", "accelerator,note,spelling\nl4-24gb,,Ada inference card\n", "names.csv")
    assert reading.rows == [AliasRow(spelling="Ada inference card", accelerator="l4-24gb")]


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        (",h100-sxm-80gb,\n", "empty"),
        (" - _,h100-sxm-80gb,\n", "empty"),  # nothing is left of it once separators are dropped
        ("Hopper,,\n", "empty"),
        ("Hopper,h100-sxm-80gb\n", "field_count"),
        ("Hopper,h100-sxm-80gb,a,b\n", "field_count"),
    ],
)
def test_a_line_without_a_name_or_an_accelerator_is_refused(lines: str, rule: str) -> None:
    assert read_text("aliases", HEADER + lines, "names.csv").by_rule == {rule: 1}


def test_one_spelling_cannot_mean_two_accelerators() -> None:
    """Two spellings are one where names are compared: without case, blanks, hyphens and underscores."""
    reading = read_text("aliases", f"{HEADER}H100 8-way,h100-sxm-80gb,\nh100_8WAY,h200-sxm-141gb,\n", "n.csv")
    assert [row.accelerator for row in reading.rows if isinstance(row, AliasRow)] == ["h100-sxm-80gb"]
    assert reading.by_rule == {"repeated": 1}
    assert "line 2" in reading.wrong[3].value


def test_a_table_without_its_columns_is_refused_whole() -> None:
    with pytest.raises(FileError, match="columns_missing"):
        read_text("aliases", "name,slug\nHopper,h100-sxm-80gb\n", "names.csv")


def test_there_is_nothing_to_fetch() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(aliases.fetch({}, datetime(2026, 11, 30, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("head", "own"),
    [
        (aliases.TEMPLATE, True),
        ("note, accelerator, spelling\n", True),
        ("slug,name,vendor,aliases,notes\n", False),
        ("provider,sku,accelerator,gpu_count\n", False),
        ('{"spelling": "accelerator note"}', False),
    ],
)
def test_an_upload_is_recognised_by_its_columns(head: str, own: bool) -> None:
    assert aliases.looks_like(head, "names.csv") is own
