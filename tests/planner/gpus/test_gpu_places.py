"""Claims about where a GPU is to be had, and about what else there is."""

from datetime import timedelta
from decimal import Decimal

import pytest

from costs.models import Quota
from tests.fact_builders import make_accelerator, make_price

from .reading import (
    NOW,
    PAGE,
    body_of,
    file_of,
    make_band,
    make_limit,
    make_machine,
    rows_of,
    text_of,
    watched,
)

pytestmark = pytest.mark.django_db


# ---- regions ----


def test_a_region_shows_price_spot_band_quota_and_zones(visit, offers):
    watched(offers, "16", NOW - timedelta(hours=2))
    make_band(offers, "5-10%")
    make_limit(offers, 800, 200)
    rows = {row[1]: row for row in rows_of(visit(f"{PAGE}regions/"), "Regions")}
    # 800 vCPUs are 4 whole machines of 192, and 600 that are free are 3
    assert rows["us-east-1"][:7] == [
        "aws", "us-east-1", "$6.88", "$2.00", "5-10% 27 Nov", "24 free of 32 30 Nov", "2 zones",
    ]  # fmt: skip
    assert rows["us-west-1"][3:6] == [
        "unknown: no spot price on file",
        "unknown: nothing is published about it",
        "no limit on file",
    ]
    assert rows["eu-west-1"][2] == "not sold here"
    assert list(rows) == ["us-west-1", "us-east-1", "eu-west-1", "us-central1", "global"], (
        "the stale one last"
    )


def test_a_limit_without_its_use_is_no_headroom(visit, offers):
    watched(offers, "16", NOW)
    make_limit(offers, 300)
    rows = {row[1]: row for row in rows_of(visit(f"{PAGE}regions/"), "Regions")}
    assert rows["us-east-1"][5] == "8 allowed, use unknown 30 Nov", "300 vCPUs are one machine of 192"


def test_a_limit_below_one_machine_allows_no_gpu(visit, offers):
    make_machine(offers)
    make_limit(offers, 100)
    rows = {row[1]: row for row in rows_of(visit(f"{PAGE}regions/"), "Regions")}
    assert rows["us-east-1"][5] == "0 free of 0 30 Nov", "100 vCPUs are no machine of 192"


def test_the_quota_of_a_region_without_a_price_is_listed_too(visit, offers):
    make_machine(offers)
    make_limit(offers, 800, 200)
    Quota.objects.update(region="ap-south-1")
    rows = {row[1]: row for row in rows_of(visit(f"{PAGE}regions/"), "Regions")}
    assert rows["ap-south-1"][2:6] == [
        "unknown: no on-demand price on file",
        "unknown: no spot price on file",
        "unknown: nothing is published about it",
        "24 free of 32 30 Nov",
    ]


def test_regions_follow_the_filters_and_come_as_a_card(client, visit, offers):
    rows = rows_of(visit(f"{PAGE}regions/?cloud=aws&region=us"), "Regions")
    assert [row[1] for row in rows] == ["us-east-1"]
    card = client.get(f"{PAGE}regions/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in card
    assert card.strip().startswith('<section class="card" id="gpu-regions">')


# ---- alternatives ----


def test_alternatives_stand_on_one_scale_and_an_unknown_rate_stays_unknown(visit, offers):
    """2.99 / 0.9894 = 3.02; 2.99 / 80 = 0.0374; 1.2 / 40 = 0.03."""
    a100 = make_accelerator(slug="a100-40gb", name="A100 40 GB", memory_gb=Decimal(40))
    make_price(provider="lambda", name="a100", gpu_count=Decimal(1), accelerator=a100, as_of=NOW,
               price_per_hour=Decimal("1.2"))  # fmt: skip
    make_accelerator(slug="never-sold", name="Never sold")
    response = visit(f"{PAGE}alternatives/")
    rows = rows_of(response, "Accelerators")
    assert [row[:7] for row in rows] == [
        ["H100 SXM 80 GB this one", "80", "989.4", "$2.99", "$3.02", "$0.0374", "lambda us-west-1"],
        ["A100 40 GB", "40", "unknown: the maker's rate is not on file", "$1.20",
         "unknown: the maker's rate is not on file", "$0.0300", "lambda us-east-1"],
    ]  # fmt: skip
    assert "By rated figures, not measured" in text_of(response)
    assert 'href="/gpus/a100-40gb/"' in body_of(response)


def test_the_list_shows_every_accelerator_with_its_cheapest_offer(visit, offers):
    make_accelerator(slug="never-sold", name="Never sold")
    response = visit("/gpus/")
    assert "2 accelerators are on file; 1 have an offer, on demand" in text_of(response)
    rows = rows_of(response, "Accelerators")
    assert [row[0] for row in rows] == ["H100 SXM 80 GB", "Never sold"]
    assert rows[1][3] == "unknown: no offer on file"
    assert [row["slug"] for row in file_of(visit("/gpus.csv"))] == ["h100-sxm-80gb", "never-sold"]
    assert "“colour”" in text_of(visit("/gpus/?colour=red"))
    assert "Term: “tomorrow” is not among the choices" in text_of(visit("/gpus/?term=tomorrow"))
