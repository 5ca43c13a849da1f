"""State that a region's bulk offer file is taken whole and of one version, or not at all."""

import gzip
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from costs.egress import HttpError
from costs.models import IngestRun, Price
from costs.rows import FileError
from costs.sources import aws_offers, aws_prices, aws_savings_plans

from .conftest import Take
from .feeds import CLOSE, Answer, Feed
from .readings import read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DATA = Path(__file__).resolve().parent.parent / "data"
EC2 = (DATA / "aws_bulk_ec2.csv").read_bytes()
PLANS = (DATA / "aws_savings_plans.csv").read_bytes()
OLD, NEW = "20260910195514", "20260917195514"
OFFERS, SAVINGS = "/offers/v1.0/aws/AmazonEC2", "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan"


@pytest.fixture(autouse=True)
def _address(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    monkeypatch.setattr(aws_offers, "ADDRESS", feed.origin)
    monkeypatch.setattr(aws_offers, "PAUSE_SECONDS", 0.0)


def index(*regions: str, version: str = OLD, **more: Any) -> Answer:
    """Return the index of EC2: regions by their code."""
    entries = {
        region: {
            "regionCode": region,
            "currentVersionUrl": f"{OFFERS}/{version}/{region}/index.json",
        }
        for region in regions
    }
    return Answer(json={"formatVersion": "v1.0", "regions": entries, **more})


def of_version(version: str) -> bytes:
    return EC2.replace(OLD.encode(), version.encode())


def play(feed: Feed, region: str, version: str, *answers: Answer) -> None:
    feed.play(f"{OFFERS}/{version}/{region}/index.csv", *(answers or (Answer(body=of_version(version)),)))


def pieces(**params: str) -> dict[str, bytes]:
    return {name: b"".join(chunks) for name, chunks in aws_prices.fetch(params, NOW)}


def test_each_region_is_a_file_of_its_own_and_needs_no_keys(feed: Feed) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1", "eu-west-1", "sa-east-1"))
    play(feed, "us-east-1", OLD)
    play(feed, "eu-west-1", OLD, Answer(body=gzip.compress(EC2), headers={"Content-Encoding": "gzip"}))
    found = pieces(region="us-east-1, eu-west-1")
    assert found == {
        "aws_offer_AmazonEC2_us-east-1_2026-11-30.csv": EC2,
        "aws_offer_AmazonEC2_eu-west-1_2026-11-30.csv": EC2,
    }
    assert len(feed.paths()) == 3, "the index and two files, each once"
    assert read_bytes("aws_prices", EC2, "a.csv").rows


def test_without_a_region_a_handful_is_asked_for(feed: Feed) -> None:
    names = [name for name, _ in aws_prices.fetch({}, NOW)]
    assert names[0] == "aws_offer_AmazonEC2_us-east-1_2026-11-30.csv"
    assert len(names) == 6
    assert feed.requests == [], "nothing is asked before a piece is read"


def test_a_piece_that_is_stored_is_not_asked_for_again(feed: Feed) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1", "eu-west-1"))
    play(feed, "eu-west-1", OLD)
    (_, _), (_, second) = aws_prices.fetch({"region": "us-east-1,eu-west-1"}, NOW)
    assert b"".join(second) == EC2
    assert [path for path in feed.paths() if "us-east-1" in path] == []


def test_the_rates_of_savings_plans_come_the_same_way(feed: Feed) -> None:
    entry = {"regionCode": "us-east-1", "versionUrl": f"{SAVINGS}/20260911184447/us-east-1/index.json"}
    feed.play(f"{SAVINGS}/current/region_index.json", Answer(json={"regions": [entry]}))
    feed.play(f"{SAVINGS}/20260911184447/us-east-1/index.csv", Answer(body=PLANS))
    ((name, chunks),) = aws_savings_plans.fetch({"region": "us-east-1"}, NOW)
    assert name == "aws_savings_plans_us-east-1_2026-11-30.csv"
    assert b"".join(chunks) == PLANS


# --- a version that changes midway ---


def test_a_file_of_another_version_than_the_index_names_is_refused(feed: Feed) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1", version=OLD))
    feed.play(f"{OFFERS}/{OLD}/us-east-1/index.csv", Answer(body=of_version(NEW)))
    ((_, chunks),) = aws_prices.fetch({"region": "us-east-1"}, NOW)
    with pytest.raises(FileError, match="version_changed") as caught:
        next(chunks)  # so that no byte of a file in doubt is stored
    assert (caught.value.column, caught.value.value) == ("us-east-1", NEW)
    assert OLD in caught.value.expected
    assert len(feed.paths()) == 8, "the index and the file, four times"


def test_after_a_change_index_and_file_are_asked_for_anew(feed: Feed) -> None:
    feed.play(
        f"{OFFERS}/current/region_index.json",
        index("us-east-1", version=OLD),
        index("us-east-1", version=NEW),
    )
    play(feed, "us-east-1", OLD, Answer(body=of_version(NEW)))
    play(feed, "us-east-1", NEW)
    (data,) = pieces(region="us-east-1").values()
    assert data == of_version(NEW)


def test_a_version_published_between_two_regions_is_mixed_into_neither(feed: Feed) -> None:
    feed.play(
        f"{OFFERS}/current/region_index.json",
        index("us-east-1", "eu-west-1", version=OLD),
        index("us-east-1", "eu-west-1", version=NEW),
    )
    for version in (OLD, NEW):
        play(feed, "us-east-1", version)
    play(feed, "eu-west-1", OLD, Answer(body=of_version(NEW)))  # changes while it is being asked for
    play(feed, "eu-west-1", NEW)
    found = pieces(region="us-east-1,eu-west-1")
    assert list(found.values()) == [of_version(OLD), of_version(NEW)]
    versions = [read_bytes("aws_prices", data, "a.csv").info.params["version"] for data in found.values()]
    assert versions == [OLD, NEW], "each region is of one version, and says of which"


def test_a_file_that_says_nothing_of_its_version_is_refused(feed: Feed) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1"))
    play(feed, "us-east-1", OLD, Answer(body=b"\n".join(EC2.split(b"\n")[4:])))
    with pytest.raises(FileError, match="version_changed"):
        pieces(region="us-east-1")


# --- trouble ---


def test_passing_trouble_is_tried_again(feed: Feed) -> None:
    busy = Answer(429, headers={"Retry-After": "0"})
    feed.play(f"{OFFERS}/current/region_index.json", busy, Answer(500), CLOSE, index("us-east-1"))
    play(feed, "us-east-1", OLD, busy, Answer(503), CLOSE, Answer(body=EC2))
    assert list(pieces(region="us-east-1").values()) == [EC2]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=EC2, cut_after=len(EC2) // 2),
        Answer(body=gzip.compress(EC2)[:-20], headers={"Content-Encoding": "gzip"}),
    ],
    ids=["cut short", "truncated gzip"],
)
def test_a_file_that_breaks_off_is_no_shorter_list(feed: Feed, answer: Answer) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1"))
    play(feed, "us-east-1", OLD, answer)
    with pytest.raises(HttpError):
        pieces(region="us-east-1")


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({}, "index_wrong"),
        ([], "index_wrong"),
        ({"regions": []}, "index_wrong"),
        ({"regions": ["us-east-1"]}, "index_wrong"),
        ({"regions": {"us-east-1": {"regionCode": "us-east-1"}}}, "index_wrong"),
        (
            {"regions": [{"regionCode": "us-east-1", "versionUrl": "https://elsewhere.example/index.json"}]},
            "index_wrong",
        ),
        (
            {
                "regions": [
                    {"regionCode": "us-east-1", "versionUrl": f"{OFFERS}/current/us-east-1/index.json"}
                ]
            },
            "index_wrong",  # "current" may be another version a moment later
        ),
        (
            {"regions": [{"regionCode": "eu-west-1", "versionUrl": f"{OFFERS}/{OLD}/eu-west-1/index.json"}]},
            "region_unknown",
        ),
    ],
)
def test_an_index_that_does_not_name_the_file_is_refused(
    feed: Feed, document: Mapping[str, Any], code: str
) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", Answer(json=document))
    with pytest.raises(FileError) as caught:
        pieces(region="us-east-1")
    assert caught.value.code == code


# --- the whole way ---


def test_two_regions_are_two_runs_and_every_line_is_counted(feed: Feed, take: Take) -> None:
    feed.play(f"{OFFERS}/current/region_index.json", index("us-east-1", "eu-west-1"))
    filler = EC2.split(b"\n")[11] + b"\n"  # a machine without accelerator
    here = EC2 + filler * 2_000
    play(feed, "us-east-1", OLD, Answer(body=here))
    there = EC2.replace(b'"us-east-1"', b'"eu-west-1"').replace(b'"us-west-2"', b'"eu-west-2"')
    play(feed, "eu-west-1", OLD, Answer(body=there.replace(b'"cn-north-1"', b'"cn-northwest-1"')))
    take(None, "aws_prices", region="us-east-1,eu-west-1")
    first, second = IngestRun.objects.filter(source="aws_prices").order_by("pk")
    lines = len(EC2.splitlines()) - 6
    assert (first.lines_read, second.lines_read) == (lines + 2_000, lines)
    assert first.rejected_by_rule["no_accelerator"] == 2_001
    assert first.lines_read == first.lines_kept + first.lines_rejected + first.lines_quarantined, (
        "no line is lost"
    )
    terms = Price.objects.filter(source="aws_prices", sku__name="p4d.24xlarge", region="eu-west-1")
    assert set(terms.values_list("term", flat=True)) == {
        "on_demand",
        "reserved_1y",
        "reserved_3y",
        "convertible_1y",
    }
