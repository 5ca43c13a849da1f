"""Claims about the spot page: what it shows and withholds, that its address is its state, its states."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from costs.models import Zone
from planner.models import Person
from tests.fact_builders import make_batch
from tests.planner.spot_facts import (
    NOW,
    ago,
    answer_in,
    make_band,
    make_history,
    make_machine,
    make_on_demand,
    make_spot_price,
    make_trace,
    rows_of,
    text_of,
)

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("x")<script>alert(1)</script>\u202e'


@pytest.fixture
def visit(client):
    """Return a function that opens an address as a viewer."""
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client.get


def figures(response) -> dict[str, dict]:
    """Return the figures of the page's charts by their name."""
    found = re.findall(
        r'<script id="figure-([^"]+)" type="application/json">(.*?)</script>', response.content.decode(), re.S
    )
    return {name: json.loads(text) for name, text in found}


# --- charts ---


def test_each_zone_has_a_panel_with_its_price_per_gpu_in_steps_and_the_on_demand_price(visit):
    make_history()
    (panel,) = [each for name, each in figures(visit("/spot/")).items() if name.startswith("zone")]
    go.Figure(panel)
    on_demand, spot = panel["data"]
    # 8, 12 and 8 dollars for a machine of 8 GPUs; the last price is drawn up to its last sight
    assert spot["y"] == [1.0, 1.5, 1.0, 1.0]
    assert spot["line"]["shape"] == "hv"
    assert {usd for usd in on_demand["y"] if usd is not None} == {4.0}
    assert spot["customdata"][1] == "<br>38\u00a0% of on demand"


def test_a_gap_is_not_drawn_over(visit):
    make_machine()
    make_spot_price("8", 200, 150, follows_gap=True)
    make_spot_price("8", 50, 0, follows_gap=True)
    (spot,) = figures(visit("/spot/"))["zone-0"]["data"]
    assert spot["y"] == [1.0, 1.0, None, 1.0, 1.0]
    assert spot["connectgaps"] is False


def test_without_an_on_demand_price_there_is_no_grey_line(visit):
    make_machine()
    make_spot_price("8", 200, 0)
    assert [trace["name"] for trace in figures(visit("/spot/"))["zone-0"]["data"]] == ["spot"]


def test_the_grey_line_is_where_the_price_was_on_file_alone(visit):
    make_machine()
    make_on_demand("32", days=2)
    make_spot_price("8", 240, 0)
    on_demand = figures(visit("/spot/"))["zone-0"]["data"][0]
    known = [moment for moment, usd in zip(on_demand["x"], on_demand["y"], strict=True) if usd is not None]
    assert min(known) == f"{ago(48):%Y-%m-%dT%H:%M:%S}"


def test_all_panels_share_one_price_axis(visit):
    make_history()
    make_spot_price("80", 100, 0, zone="use1-az1")
    found = [
        each["layout"]["yaxis"]["range"] for name, each in figures(visit("/spot/")).items() if "zone" in name
    ]
    assert len(found) == 2
    assert found[0] == found[1]
    assert found[0][0] == 0 and found[0][1] > 10  # noqa: PT018


def test_eight_zones_have_a_panel_and_the_others_are_named(visit):
    make_machine()
    for number in range(11):
        make_spot_price(f"{10 + number}", 100, 0, zone=f"use1-az{number:02d}")
    response = visit("/spot/")
    assert [name for name in figures(response) if name.startswith("zone")] == [f"zone-{n}" for n in range(8)]
    assert "No panel, but a row in the table: use1-az08, use1-az09, use1-az10." in text_of(response)
    assert len(rows_of(response)) == 11


def test_the_box_of_a_zone_spans_the_middle_90_percent_of_the_time(visit):
    make_history()
    box = figures(visit("/spot/"))["spread"]
    go.Figure(box)
    # of 10 days 7 at 1.00 and 3 at 1.50
    trace = box["data"][0]
    assert [trace[name] for name in ("lowerfence", "q1", "median", "q3", "upperfence")] == [
        [1.0], [1.0], [1.0], [1.5], [1.5],
    ]  # fmt: skip


def test_figures_are_json_without_nan_and_no_text_can_carry_tags(visit):
    make_history(zone=HOSTILE, zone_kind="name")
    for figure in figures(visit("/spot/")).values():
        assert "<script" not in json.dumps(figure, allow_nan=False)


def test_every_chart_has_its_numbers_beside_it(visit):
    make_history()
    text = text_of(visit("/spot/?window=30d"))
    assert "Price of one GPU-h that held" in text
    assert "Price of one GPU-h by zone, weighted by time" in text


def test_losses_that_were_measured_in_a_zone_stand_in_its_panel(visit):
    make_history()
    make_trace([(1900, 1), (5, 0), (95, 1)], zone="use1-az6")
    (ticks,) = [each for each in figures(visit("/spot/"))["zone-0"]["data"] if each["name"] == "loss"]
    assert ticks["x"] == [f"{ago(100):%Y-%m-%dT%H:%M:%S}"]


def test_losses_measured_elsewhere_in_the_region_do_not(visit):
    make_history()
    make_trace([(1900, 1), (5, 0), (95, 1)])
    assert "loss" not in [trace["name"] for trace in figures(visit("/spot/"))["zone-0"]["data"]]


# --- zones ---


def test_ids_and_names_are_never_one_zone_and_the_page_says_which_is_which(visit):
    make_machine()
    make_spot_price("8", 100, 0, zone="use1-az6")
    make_spot_price("9", 100, 0, zone="us-east-1a", zone_kind="name")
    make_spot_price("10", 100, 0, zone="us-east-1a", zone_kind="name", account="123456789012")
    response = visit("/spot/")
    assert [row[0] for row in rows_of(response)] == [
        "use1-az6 zone id",
        "us-east-1a name, account unknown",
        "us-east-1a name in account 123456789012",
    ]
    assert "Which is which is not on file" in text_of(response)
    (only,) = rows_of(visit("/spot/?zone=us-east-1a@123456789012"))
    assert only[0].endswith("123456789012")


def test_a_name_shows_the_id_that_its_own_account_states(visit):
    make_machine()
    make_spot_price("10", 100, 0, zone="us-east-1a", zone_kind="name", account="123456789012")
    Zone.objects.create(
        provider="aws", account="123456789012", region="us-east-1", zone_name="us-east-1a",
        zone_id="use1-az4", batch=make_batch(source="aws_zones"),
    )  # fmt: skip
    assert rows_of(visit("/spot/"))[0][0] == "us-east-1a name in account 123456789012 = use1-az4"


# --- old data ---


def test_a_window_is_counted_back_from_the_newest_sample_and_the_page_says_when_that_was(visit):
    make_machine()
    make_on_demand()
    make_spot_price("8", 24_000, 20_010, follows_gap=True)
    make_spot_price("12", 20_010, 20_000)
    response = visit("/spot/?window=30d")
    end = ago(20_000)
    day = f"{end.day} {end:%b %Y}"
    assert answer_in(response) == f"Prices end {day}: whether spot is worth it today is unknown."
    assert f"History ends {day}, 833 d old" in text_of(response)
    # 30 days before that, 8.00 held for all but ten hours
    assert rows_of(response)[0][1:4] == ["$1.50 833 d old", "$1.00", "$1.00"]


def test_old_prices_are_shaded_from_their_last_sample_and_have_no_effective_price(visit):
    make_machine()
    make_spot_price("8", 300, 100)
    response = visit("/spot/?mtbf=100")
    (shape,) = figures(response)["zone-0"]["layout"]["shapes"]
    assert shape["x0"] == f"{ago(100):%Y-%m-%dT%H:%M:%S}"
    assert rows_of(response)[0][7] == "withheld: the price is older than twice its cadence"


def test_history_may_be_looked_at_as_of_its_end(visit):
    make_history()
    stale = visit("/spot/?mtbf=100")
    assert "Look as of" not in text_of(stale)  # it is fresh
    old = timedelta(days=900)
    make_machine("p4d.24xlarge", accelerator="a100")
    make_on_demand("32", days=2000, name="p4d.24xlarge")
    make_spot_price("8", 24 * 910, 24 * 900, sku="p4d.24xlarge")
    stale = visit("/spot/?gpu=aws/p4d.24xlarge&mtbf=100", follow=True)
    (link,) = re.findall(r'href="(/spot/\?[^"]*as_of=[^"]*)">Look as of', stale.content.decode())
    response = visit(unescape(link))
    assert response.status_code == 200
    assert f"as_of={NOW - old:%Y-%m-%dT%H}" in unescape(link).replace("%3A", ":")
    assert answer_in(response).startswith("Worth it while interruptions cost under 75 % of hours; now ")
    assert "nothing here advises for today" in text_of(response)


def test_one_zone_that_stopped_is_withheld_while_the_others_go_on(visit):
    make_history()
    make_spot_price("4", 300, 100, zone="use1-az1")
    response = visit("/spot/?mtbf=100")
    by_zone = {row[0].split()[0]: row for row in rows_of(response)}
    assert by_zone["use1-az1"][7].startswith("withheld")
    assert by_zone["use1-az6"][7].startswith("$")
    assert "use1-az1 (last seen" in text_of(response)
    # and it is not the zone that the answer is about, though it was the cheapest
    assert "use1-az6 is at $1.00/GPU-h" in text_of(response)


def test_a_price_that_is_late_but_not_stale_says_its_age(visit):
    make_history()
    make_spot_price("4", 300, 30, zone="use1-az1")
    assert rows_of(visit("/spot/"))[0][1] == "$0.50 30 h old"


# --- other states ---


def test_without_a_history_the_page_says_how_to_get_one(visit, planner_client):
    text = text_of(visit("/spot/"))
    assert "No spot history" in text
    assert "DescribeSpotPriceHistory" in text
    assert "A planner or administrator can upload one." in text
    body = planner_client.get("/spot/").content.decode()
    assert 'href="/data/upload/?source=aws_spot_history"' in body


def test_a_date_before_the_history_says_so(visit):
    make_history()
    assert "holds no price up to" in text_of(visit("/spot/?as_of=2020-01-01T00:00:00Z"))


def test_a_machine_that_the_table_lacks_is_priced_by_the_machine(visit):
    make_spot_price("8", 100, 0, sku="x9.metal")
    response = visit("/spot/")
    assert rows_of(response)[0][1] == "$8.00"
    assert "$/machine-h of x9.metal" in text_of(response)


def test_a_price_in_another_currency_is_not_shown_as_dollars(visit):
    make_machine()
    make_spot_price("56", 100, 0, region="cn-north-1", zone="cnn1-az1", currency="CNY")
    response = visit("/spot/")
    assert rows_of(response)[0][1:4] == ["in CNY", "in CNY", "in CNY"]
    assert "cnn1-az1 (in CNY)" in text_of(response)
    assert not [name for name in figures(response) if name.startswith("zone")]


def test_hostile_names_are_text(visit):
    make_history(zone=HOSTILE, zone_kind="name", account="<b>x</b>")
    body = visit("/spot/").content.decode()
    assert "<script>alert" not in body
    assert "<b>x</b>" not in body


def test_the_count_of_queries_is_small_and_does_not_grow(visit):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert visit("/spot/").status_code == 200
        return len(captured)

    make_history()
    make_band()
    make_trace([(100, 1), (10, 0), (100, 1)])
    visit("/spot/")
    before = queries()
    for number in range(6):
        make_spot_price("9", 300, 0, zone=f"use1-az{number + 10}")
        make_spot_price("9", 300, 0, zone=f"usw2-az{number}", region="us-west-2")
        make_machine(f"p5.{number}xlarge")
        make_spot_price("9", 300, 3, sku=f"p5.{number}xlarge")
    make_on_demand("30", name="p5.48xlarge", region="us-west-2", gpu_count=Decimal("8.5"))
    make_trace([(100, 1), (10, 0), (100, 1)], trace="another", scope="another")
    assert queries() == before <= 12


def test_the_label_of_a_panel_says_what_it_shows(visit):
    make_history()
    make_spot_price("4", 300, 100, zone="use1-az1")
    body = visit("/spot/").content.decode().replace("\u2011", "-")
    labels = [unescape(label) for label in re.findall(r'role="img" aria-label="([^"]*)"', body)]
    day = f"{ago(100).day} {ago(100):%b %Y}"
    assert [label.replace("\u00a0", " ") for label in labels[:2]] == [
        f"use1-az1: $0.50/GPU-h when last seen on {day}, unchanged in the window. On demand $4.00.",
        "use1-az6: $1.00/GPU-h now, $1.00 to $1.50 in the window. On demand $4.00.",
    ]


def test_the_source_of_a_missing_history_is_one_press_away(visit):
    body = visit("/spot/").content.decode()
    (link,) = re.findall(r'href="([^"]*)">Add a key', body)
    assert visit(link).status_code == 200
