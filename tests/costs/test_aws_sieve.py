"""State that searching a huge list in blocks says of each line what taking every line apart says."""

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.rows import FileError, OutOfScope, RowError
from costs.sources import aws_labels, aws_prices, aws_sieve
from costs.sources.aws_csv import ATTRIBUTES
from costs.sources.aws_filters import check_product
from costs.sources.byte_stream import BLOCK_BYTES, Limits
from costs.sources.csv_file import text_lines

from .readings import Reading, read_bytes, read_text

DATA = Path(__file__).resolve().parent.parent / "data"
LINES = (DATA / "aws_bulk_ec2.csv").read_text().splitlines()
HEADER = next(csv.reader([LINES[5]]))

CPU = {"Instance_Type": "m7i.large", "Instance_Family": "General purpose", "usageType": "BoxUsage:m7i.large"}


def written(rows: list[dict[str, str]], *, bare: bool = True) -> str:
    """Return a list with these rows; empty fields are bare, without quotes, as AWS writes them."""
    lines = (
        ",".join(f'"{row[name]}"' if row[name] or not bare else "" for name in HEADER) + "\n" for row in rows
    )
    return "\n".join(LINES[:6]) + "\n" + "".join(lines)


def product(**changes: str) -> dict[str, str]:
    """Return the row of the p5 on demand, with some columns changed."""
    row = dict(zip(HEADER, next(csv.reader([LINES[15]])), strict=True))
    return {**row, **{name.replace("_", " "): value for name, value in changes.items()}}


def sku(number: int) -> str:
    return f"SKU{number:013d}"


def some_rows(chance: random.Random, count: int) -> list[dict[str, str]]:
    """Return rows of products in any order, each product with one to six lines together."""
    rows: list[dict[str, str]] = []
    for number in range(count):
        made = product(
            **{
                "SKU": sku(number),
                "Instance Type": f"p5.{number}xlarge",
                "Instance Family": chance.choice(
                    ["GPU instance", "General purpose", "Machine Learning ASIC Instances", "Memory optimized"]
                ),
                "Operating System": chance.choice(["Linux", "Linux", "Windows", "RHEL", "SUSE"]),
                "Tenancy": chance.choice(["Shared", "Shared", "Dedicated"]),
                "CapacityStatus": chance.choice(["Used", "Used", "UnusedCapacityReservation"]),
            }
        )
        if made["Instance Family"] in ("General purpose", "Memory optimized"):
            made |= {"Instance Type": f"m7i.{number}xlarge", "usageType": f"BoxUsage:m7i.{number}xlarge"}
        rows += [{**made, "OfferTermCode": f"CODE{line}"} for line in range(chance.randint(1, 6))]
    return rows


def rule_of(row: dict[str, str]) -> str:
    """Return by which rule a row is set aside when it is taken apart alone, "" where it is kept."""
    try:
        check_product({name: row[column] for column, name in ATTRIBUTES.items()}, "AmazonEC2")
    except OutOfScope as reason:
        return reason.rule
    return ""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), room=st.sampled_from([3_000, 10_000, 200_000]), bare=st.booleans())
def test_each_line_ends_as_if_it_had_been_taken_apart(
    monkeypatch: pytest.MonkeyPatch, seed: int, room: int, bare: bool
) -> None:
    monkeypatch.setattr(aws_sieve, "_FULL_BYTES", room)
    monkeypatch.setattr(aws_sieve, "_ROOM_BYTES", room + BLOCK_BYTES)
    rows = some_rows(random.Random(seed), 60)
    reading = read_text("aws_prices", written(rows, bare=bare), "a.csv")
    assert reading.lines == len(rows)
    refused = {**reading.wrong, **reading.out_of_scope}
    said = {line: error.rule for line, error in refused.items()}
    assert said == {line: rule for line, row in enumerate(rows, 7) if (rule := rule_of(row))}
    assert set(reading.kept) == {line for line, row in enumerate(rows, 7) if not rule_of(row)}


@pytest.mark.parametrize("change", ["crlf", "blank lines", "unquoted", "no line end", "short SKUs"])
def test_a_list_written_in_another_manner_reads_the_same(change: str) -> None:
    rows = some_rows(random.Random(7), 80)
    text = written(rows)
    plain = read_text("aws_prices", text, "a.csv")
    head, body = text.splitlines()[:6], text.splitlines()[6:]
    if change == "crlf":
        text = text.replace("\n", "\r\n")
    elif change == "blank lines":
        text = "\n".join([*head, *(line + "\n" for line in body)]) + "\n\n\n"
    elif change == "unquoted":
        text = "\n".join([*head, *(line.replace('"', "").replace("2,048", "2048") for line in body)])
    elif change == "no line end":
        text = text.removesuffix("\n")
    else:
        text = text.replace('"SKU00000000000', '"S')
    reading = read_text("aws_prices", text, "a.csv")
    assert (reading.lines, reading.by_rule) == (plain.lines, plain.by_rule)
    assert len(reading.rows) == len(plain.rows) > 0


def test_lines_without_accelerators_come_as_runs_not_one_by_one() -> None:
    rows = [product(SKU=sku(n), **CPU) for n in range(3_000)]
    data = io.BytesIO(written(rows).encode())
    _, lines = aws_prices.read(data, "a.csv", {})
    found = list(lines)
    assert sum(raw.lines for raw in found) == 3_000
    assert len(found) < 10
    assert [raw.line for raw in found] == [
        7 + sum(each.lines for each in found[:n]) for n in range(len(found))
    ]


CLOSED = (lambda line: line + '"', "csv_broken")
NUL = (lambda line: line.replace("GiB", "G\0B"), "nul_byte")


@pytest.mark.parametrize(
    ("damage", "code", "changes"),
    [(*CLOSED, {}), (*NUL, {}), (*NUL, CPU)],
    ids=["quote", "NUL", "NUL, not ours"],
)
def test_a_damaged_line_is_found_by_its_number(damage: Any, code: str, changes: dict[str, str]) -> None:
    lines = written([product(SKU=sku(n), **changes) for n in range(40)]).splitlines()
    lines[20] = damage(lines[20])
    with pytest.raises(FileError) as caught:
        read_text("aws_prices", "\n".join(lines) + "\n", "a.csv")
    assert (caught.value.code, caught.value.line) == (code, 21)


def test_a_list_without_line_ends_is_refused_before_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_sieve, "_FULL_BYTES", 100_000)
    monkeypatch.setattr(aws_sieve, "_ROOM_BYTES", 100_000 + BLOCK_BYTES)
    text = written([product()]) + "x" * 500_000
    with pytest.raises(FileError, match="line_too_long"):
        read_text("aws_prices", text, "a.csv")


def test_more_lines_than_the_limit_are_refused() -> None:
    data = io.BytesIO(written([product(SKU=sku(n)) for n in range(50)]).encode())
    _, lines = aws_prices.read(data, "a.csv", {}, limits=Limits(rows=40))
    with pytest.raises(FileError, match="too_many_rows"):
        list(lines)


def test_the_first_line_under_the_header_is_found_wherever_blocks_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("costs.sources.byte_stream.BLOCK_BYTES", 700)
    rows = some_rows(random.Random(3), 40)
    assert read_text("aws_prices", written(rows), "a.csv").lines == len(rows)
    assert len(list(text_lines([b"a\nb", b"\n"]))) == 2


# --- labels ---


def with_label(label: str, **changes: str) -> Reading:
    rows = [product(SKU=sku(1), **CPU), product(SKU=sku(2), Instance_Family=label, **changes)]
    return read_text("aws_prices", written(rows), "a.csv")


def test_a_family_label_that_is_renamed_costs_no_price() -> None:
    reading = with_label("Accelerated computing")
    assert reading.by_rule == {"no_accelerator": 1}
    assert [row.sku for row in reading.rows] == ["p5.48xlarge"]  # type: ignore[union-attr]


def test_a_renamed_label_is_found_in_packed_files_and_in_parts_of_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [product(SKU=sku(n), **CPU) for n in range(2_000)]
    rows[1_000::7] = [
        product(SKU=sku(n), Instance_Family="Accelerated computing", Instance_Type=f"p5.{n}xlarge")
        for n in range(1_000, 2_000, 7)
    ]
    text = written(rows).encode()
    whole = read_bytes("aws_prices", text, "a.csv")
    assert len(whole.rows) == len(rows[1_000::7])
    monkeypatch.setattr(aws_labels, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(aws_labels, "_BLOCKS", 4)
    for data, name in ((text, "a.csv"), (gzip.compress(text), "a.csv.gz")):
        reading = read_bytes("aws_prices", data, name)
        assert (len(reading.rows), reading.by_rule) == (len(whole.rows), whole.by_rule)


def test_a_machine_with_accelerators_and_no_label_is_refused() -> None:
    with pytest.raises(FileError, match="family_label_missing") as caught:
        with_label("")
    assert caught.value.value == "p5.48xlarge"


def test_a_known_label_on_an_unknown_type_is_refused_by_name() -> None:
    reading = with_label("GPU instance", Instance_Type="p99.48xlarge", usageType="BoxUsage:p99.48xlarge")
    assert [error.rule for error in reading.wrong.values()] == ["family_unknown"]
    assert isinstance(next(iter(reading.wrong.values())), RowError)


def test_a_product_in_json_is_found_by_its_type_too() -> None:
    text = (DATA / "aws_offer_ec2.json").read_text()
    plain = read_text("aws_prices", text, "a.json")
    renamed = read_text("aws_prices", text.replace("GPU instance", "Accelerated computing"), "a.json")
    assert len(renamed.rows) == len(plain.rows) > 0
    assert renamed.by_rule == plain.by_rule
