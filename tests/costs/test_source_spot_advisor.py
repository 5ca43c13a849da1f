"""State how the spot advisor's file is read. Entries are ours, in its real format."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costs import egress
from costs.rows import FileError, InterruptionRow
from costs.sources import spot_advisor

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, packed, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
# as published: `max` is not the end of the band that the label names
RANGES = [
    {"index": 0, "label": "<5%", "dots": 0, "max": 5},
    {"index": 1, "label": "5-10%", "dots": 1, "max": 11},
    {"index": 2, "label": "10-15%", "dots": 2, "max": 16},
    {"index": 3, "label": "15-20%", "dots": 3, "max": 22},
    {"index": 4, "label": ">20%", "dots": 4, "max": 100},
]
TYPES = {
    "p5.48xlarge": {"emr": True, "cores": 192, "ram_gb": 2048.0},
    "g6.xlarge": {"emr": True, "ram_gb": 16},
}


def document(entries: object, ranges: object = RANGES) -> str:
    return json.dumps(
        {"instance_types": TYPES, "ranges": ranges, "spot_advisor": entries, "global_rate": "<10%"}
    )


def advised(entry: object, sku: str = "p5.48xlarge", name: str = "spot_advisor_2025-06-28.json") -> Reading:
    return read_text("spot_advisor", document({"us-east-1": {"Linux": {sku: entry}}}), name)


def only_row(reading: Reading) -> InterruptionRow:
    (row,) = reading.rows
    assert isinstance(row, InterruptionRow)
    return row


def test_an_entry_is_a_band_and_a_saving() -> None:
    reading = advised({"r": 1, "s": 62})
    assert reading.rows == [
        InterruptionRow(
            provider="aws",
            sku="p5.48xlarge",
            region="us-east-1",
            product="Linux",
            band=1,
            band_label="5-10%",
            share_low=Decimal("0.05"),
            share_high=Decimal("0.10"),
            saving_share=Decimal("0.62"),
        )
    ]
    assert reading.scopes == {"us-east-1"}
    assert reading.info.as_of == datetime(2025, 6, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("index", "low", "high"),
    [(0, "0", "0.05"), (1, "0.05", "0.10"), (2, "0.10", "0.15"), (3, "0.15", "0.20"), (4, "0.20", None)],
)
def test_oddity_15_shares_come_from_the_labels_and_the_top_band_has_no_end(
    index: int, low: str, high: str | None
) -> None:
    row = only_row(advised({"r": index, "s": 0}))
    assert (row.band, row.share_low, row.share_high) == (index, Decimal(low), high and Decimal(high))


def test_oddity_15_memory_may_be_whole_or_not() -> None:
    assert only_row(advised({"r": 0, "s": 50}, "g6.xlarge")).sku == "g6.xlarge"


def test_spot_may_cost_more_than_on_demand() -> None:
    assert only_row(advised({"r": 0, "s": -62})).saving_share == Decimal("-0.62")


def test_a_saving_that_is_not_stated_is_unknown() -> None:
    assert only_row(advised({"r": 0})).saving_share is None
    assert only_row(advised({"r": 0, "s": None})).saving_share is None


def test_each_region_and_system_is_a_line_of_its_own() -> None:
    entry = {"r": 0, "s": 1}
    text = document(
        {
            "us-east-1": {
                "Linux": {"p5.48xlarge": entry, "m5.large": entry},
                "Windows": {"g6.xlarge": entry},
            },
            "eu-west-1": {"Linux": {}, "Windows": {"g6.xlarge": entry}},
        }
    )
    reading = read_bytes("spot_advisor", packed(text), "spot-advisor-data.json.gz")
    assert {line: [type(row) for row in rows] for line, rows in reading.kept.items()} == {
        1: [InterruptionRow], 3: [InterruptionRow], 4: [InterruptionRow],
    }  # fmt: skip
    assert {line: error.rule for line, error in reading.out_of_scope.items()} == {2: "not_accelerated"}
    assert reading.scopes == {"us-east-1", "eu-west-1"}
    assert reading.info.as_of is None  # neither the file nor its name states a date


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ({"r": 5, "s": 1}, "band_unknown"),
        ({"r": -1, "s": 1}, "band_unknown"),
        ({"r": "<5%", "s": 1}, "band_unknown"),
        ({"r": 0.5, "s": 1}, "band_unknown"),
        ({"s": 1}, "band_unknown"),
        ({"r": 0, "s": "62%"}, "not_a_number"),
        ({"r": 0, "s": 62.5}, "not_a_number"),
        ({"r": 0, "s": 101}, "not_a_number"),
        ([0, 62], "record_unreadable"),
        (None, "record_unreadable"),
    ],
)
def test_an_entry_that_is_wrong_is_refused_by_name(entry: object, rule: str) -> None:
    assert advised(entry).by_rule == {rule: 1}


@pytest.mark.parametrize(
    "ranges",
    [
        [],
        [{"index": 0, "label": "rarely"}],
        [{"index": 0, "label": "<5%"}, {"index": 0, "label": ">20%"}],
        [{"index": 0, "label": "<5"}],
    ],
)
def test_bands_that_cannot_be_read_refuse_the_file(ranges: object) -> None:
    with pytest.raises(FileError, match="ranges_wrong"):
        read_text("spot_advisor", document({}, ranges), "a.json")


@pytest.mark.parametrize("text", ["{}", "[]", '{"ranges": [], "spot_advisor": []}', '{"ranges": ['])
def test_what_is_no_advisor_file_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="json_wrong"):
        read_text("spot_advisor", text, "a.json")


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        ('{\n"spot_advisor": {\n"ap-southeast-1": {', True),
        ('{"instance_types": {"c6i.32xlarge": {"emr": true, "cores": 128, "ram_gb": 256.0}', True),
        ('{"instance_types": 1}', False),
        ('{"SpotPriceHistory": []}', False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_start(head: str, is_ours: bool) -> None:
    assert spot_advisor.looks_like(head, "file") is is_ours


# --- fetched ---


def test_the_public_file_needs_no_key(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_advisor, "ADDRESS", f"{feed.origin}/spot-advisor-data.json")
    text = document({"us-east-1": {"Linux": {"p5.48xlarge": {"r": 0, "s": 1}}}})
    # trouble that passes is tried again
    feed.play("/", Answer(429, headers={"Retry-After": "0"}), CLOSE, Answer(200, text=text))
    ((name, chunks),) = spot_advisor.fetch({}, NOW)
    assert feed.requests == []
    assert len(read_bytes("spot_advisor", b"".join(chunks), name).rows) == 1
    assert "Authorization" not in feed.requests[0].headers


def test_its_real_address_may_be_reached() -> None:
    egress.check_url(spot_advisor.ADDRESS)


def test_an_address_without_the_file_is_an_error(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_advisor, "ADDRESS", f"{feed.origin}/spot-advisor-data.json")
    feed.play("/", Answer(403, text="denied"))
    ((_, chunks),) = spot_advisor.fetch({}, NOW)
    with pytest.raises(egress.HttpError):
        b"".join(chunks)
