"""Files hold what the page shows: to the cent, with their origin in every row, safe to open anywhere."""

import csv
import io
import json
import re
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from planner.csv_cells import file_number
from planner.models import Scenario
from tests.fact_builders import make_batch, make_price
from tests.plan_builders import (
    make_key,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_workload,
)

pytestmark = pytest.mark.django_db
LAST = ["currency", "unit", "scenario_rev", "as_of", "source_run"]
HOSTILE = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "\u05e9\u05dc\u05d5\u05dd",  # right to left
    "n" * 120,
    "GPU 🚀",
    "quote \" and, comma; semi'",
]


def uneven() -> list[Scenario]:
    """Two plans whose money has many decimals, one of them with demand that grows and prices that fall."""
    growing = {"growth_per_month": Decimal("0.0137"), "gpus": Decimal("9.137")}
    revision: dict[str, Any] = {"months": 36, "price_change_per_year": Decimal("-0.12")}
    owned = make_owned(idle_kw_per_server=Decimal("2.3"), max_kw_per_server=Decimal("10.2"),
                       usd_per_kwh=Decimal("0.1077"), fte_minimum=Decimal("0.5"),
                       usd_staff_per_fte_year=Decimal("180000.33"), residual_share=None)  # fmt: skip
    return [
        make_scenario(
            "Stay", [make_on_demand("3.93")], [make_workload(**growing)], make_revision(**revision)
        ),
        make_scenario(
            "Own", [make_on_demand("3.93"), owned], [make_workload(**growing)], make_revision(**revision)
        ),
    ]


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def query(scenarios: list[Scenario], more: str = "") -> str:
    return "&".join(f"s={scenario.slug}" for scenario in scenarios) + more


def shell(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("export", "compare", *arguments, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


@pytest.mark.parametrize("view", ["cash", "amortized", "present_value"])
def test_screen_csv_json_and_shell_agree_to_the_cent(viewer_client: Client, view: str):
    scenarios = uneven()
    address = query(scenarios, f"&view={view}&growth=2.5")
    in_csv = read(viewer_client.get(f"/compare.csv?{address}").content)
    in_json = json.loads(viewer_client.get(f"/compare.json?{address}").content)
    page = viewer_client.get(f"/compare/?{address}")
    in_shell = read(shell(*[s.slug for s in scenarios], view=view, set=["growth=2.5"]).encode())
    assert in_shell == in_csv
    lines = {line["line"]: line for line in in_json["lines"]}
    money = [row for row in in_csv if row["unit"] == "USD"]
    assert len(money) >= 8
    for row in money:
        cents = Decimal(row["amount_usd"]).quantize(Decimal("0.01"))
        same = lines[row["line"]]["values"][row["letter"]]
        assert Decimal(repr(same)).quantize(Decimal("0.01")) == cents
    # the screen shows whole dollars: the same amounts, rounded half up
    cells = {
        (each.key, cell.letter): cell.figure
        for each in page.context["comparison"].rows
        for cell in each.cells
    }
    html = page.content.decode()
    for row in money:
        figure = cells[row["line"], row["letter"]]
        assert Decimal(repr(file_number(figure.value))) == Decimal(row["amount_usd"])
        shown = f"{abs(int(Decimal(row['amount_usd']).quantize(Decimal(1), 'ROUND_HALF_UP'))):,}"
        assert figure.text.lstrip("−") == f"${shown}"
        assert figure.text in html


@pytest.mark.parametrize("fmt", ["csv", "json"])
def test_browser_and_shell_write_the_same_bytes(viewer_client: Client, fmt: str):
    scenarios = uneven()
    browser = viewer_client.get(f"/compare.{fmt}?{query(scenarios)}").content
    assert shell(*[s.slug for s in scenarios], format=fmt).encode() == browser


def test_the_shell_writes_bytes_to_a_file(tmp_path, viewer_client: Client):
    scenarios = uneven()
    out = tmp_path / "compare.csv"
    shell(*[s.slug for s in scenarios], out=out, sep=";", dec=",", bom=True)
    browser = viewer_client.get(f"/compare.csv?{query(scenarios)}&sep=;&dec=,&bom=1").content
    assert out.read_bytes() == browser
    assert browser.startswith(b"\xef\xbb\xbfletter;scenario;")


def test_lines_of_the_csv_add_up_to_its_total(viewer_client: Client):
    rows = read(viewer_client.get(f"/compare.csv?{query(uneven())}").content)
    for letter in "AB":
        mine = {row["line"]: Decimal(row["amount_usd"] or 0) for row in rows if row["letter"] == letter}
        others = ("total", "present_value")
        parts = sum(value for line, value in mine.items() if line not in others)
        assert abs(parts - mine["total"]) < Decimal("0.005")


def test_every_row_says_currency_unit_revision_date_and_run(viewer_client: Client):
    batch = make_batch()
    make_price(batch=batch)
    fact = make_scenario("Fact", [make_on_demand(price=make_key())])
    typed = make_scenario("Typed")
    content = viewer_client.get(f"/compare.csv?{query([fact, typed])}").content
    header = content.decode().splitlines()[0].split(",")
    assert header[-5:] == LAST
    for row in read(content):
        assert row["currency"] == "USD"
        assert row["unit"]
        assert row["scenario_rev"] == "1"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["as_of"])
        assert row["source_run"] == (str(batch.run_id) if row["letter"] == "A" else "")


def test_a_value_stands_in_the_column_of_its_unit_alone(viewer_client: Client):
    rows = read(viewer_client.get(f"/compare.csv?{query(uneven())}").content)
    columns = {
        "USD": "amount_usd",
        "USD per GPU-hour": "rate_usd_per_gpu_h",
        "GPU-hours": "gpu_hours",
        "GPUs": "gpus",
        "days": "days",
    }
    for row in rows:
        filled = [name for name in columns.values() if row[name] != ""]
        assert filled == [columns[row["unit"]]]


def test_the_address_in_a_file_gives_the_same_file(viewer_client: Client):
    scenarios = uneven()
    content = viewer_client.get(f"/compare.csv?{query(scenarios)}&view=present_value&kwh=0.2").content
    address = read(content)[0]["address"]
    again = viewer_client.get(address.replace("/compare/?", "/compare.csv?")).content
    assert again == content


def test_the_name_of_the_file_says_what_it_holds(viewer_client: Client):
    response = viewer_client.get(f"/compare.csv?{query(uneven())}")
    as_of = read(response.content)[0]["as_of"][:10]
    assert (
        response["Content-Disposition"] == f'attachment; filename="compare_stay-own_cash_36m_usd_{as_of}.csv"'
    )


def test_unknown_money_is_empty_and_says_why(viewer_client: Client):
    unknown = make_scenario("Own", [make_on_demand(), make_owned(usd_capex_per_server=None)])
    rows = read(viewer_client.get(f"/compare.csv?{query([make_scenario('Stay'), unknown])}").content)
    total = next(row for row in rows if row["letter"] == "B" and row["line"] == "total")
    assert total["amount_usd"] == ""
    assert "price per server is unknown" in total["unknown_because"]


def test_sample_scenarios_carry_their_mark(viewer_client: Client):
    own = [make_scenario(), make_scenario()]
    sample = [make_scenario(is_sample=True), make_scenario(is_sample=True)]
    assert {row["data"] for row in read(viewer_client.get(f"/compare.csv?{query(own)}").content)} == {"own"}
    assert {row["data"] for row in read(viewer_client.get(f"/compare.csv?{query(sample)}").content)} == {
        "sample"
    }
    assert json.loads(viewer_client.get(f"/compare.json?{query(sample)}").content)["data"] == "sample"
    ledger = viewer_client.get(f"/scenarios/{sample[0].slug}.csv").content
    assert {row["data"] for row in read(ledger)} == {"sample"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_in_files_and_on_the_page(viewer_client: Client, name: str):
    scenarios = [make_scenario(name), make_scenario("Other")]
    rows = read(viewer_client.get(f"/compare.csv?{query(scenarios)}").content)
    cell = rows[0]["name"]
    assert not cell.startswith(("=", "+", "-", "@"))
    assert cell.removeprefix("'") == name
    assert (
        json.loads(viewer_client.get(f"/compare.json?{query(scenarios)}").content)["scenarios"][0]["name"]
        == name
    )
    for address in (f"/compare/?{query(scenarios)}", "/scenarios/", f"/scenarios/{scenarios[0].slug}/"):
        response = viewer_client.get(address)
        assert response.status_code == 200
        assert b"<script>alert" not in response.content


def test_negative_amounts_stay_numbers(viewer_client: Client):
    rows = read(viewer_client.get(f"/compare.csv?{query(uneven())}").content)
    residual = next(row for row in rows if row["line"] == "residual" and row["letter"] == "B")
    assert Decimal(residual["amount_usd"]) < 0


def test_the_monthly_ledger_adds_up_and_equals_the_page(viewer_client: Client):
    scenario = uneven()[1]
    response = viewer_client.get(f"/scenarios/{scenario.slug}.csv")
    rows = read(response.content)
    assert [row["month"] for row in rows][:2] == ["2027-01-01", "2027-02-01"]
    assert len(rows) == 36
    money = [
        name for name in rows[0] if name.endswith("_usd") and name not in ("total_usd", "cumulative_usd")
    ]
    running = Decimal(0)
    for row in rows:
        total = Decimal(row["total_usd"])
        assert abs(sum(Decimal(row[name]) for name in money) - total) < Decimal("0.005")
        running += total
        assert abs(Decimal(row["cumulative_usd"]) - running) < Decimal("0.005")
    page = viewer_client.get(f"/scenarios/{scenario.slug}/")
    result = page.context["result"]
    assert Decimal(repr(result.card.total.value)).quantize(Decimal("0.01")) == running.quantize(
        Decimal("0.01")
    )
    in_json = json.loads(viewer_client.get(f"/scenarios/{scenario.slug}.json").content)
    assert in_json["ledger"][35]["cumulative"] == float(rows[35]["cumulative_usd"])
    assert list(rows[0])[-5:] == LAST


def test_the_list_is_a_file_with_the_rows_of_the_page(viewer_client: Client):
    uneven()
    rows = read(b"".join(viewer_client.get("/scenarios.csv").streaming_content))
    page = {row.scenario.slug: row.summary for row in viewer_client.get("/scenarios/").context["rows"]}
    assert [row["scenario"] for row in rows] == list(page)
    for row in rows:
        assert float(row["total_cash"]) == file_number(page[row["scenario"]].total.value)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (["stay"], {}, "2 to 4"),
        (["stay", "nobody"], {}, "no scenario 'nobody'"),
        (["stay", "own"], {"set": ["util=5000"]}, "a number from 1 to 100"),
        (["stay", "own"], {"set": ["speed=1"]}, "one of util, demand"),
        (["stay", "own"], {"as_of": "yesterday"}, "a date such as"),
        (["stay", "own"], {"sep": ",", "dec": ","}, "the same character"),
    ],
)
def test_the_shell_refuses_what_makes_no_sense(arguments, options, said):
    uneven()
    with pytest.raises(CommandError, match=re.escape(said)):
        shell(*arguments, **options)


def test_reserved_and_typed_upfront_reach_the_file(viewer_client: Client):
    # 8 GPUs, $1 by the hour and $5,000 each upfront: 40,000 + 70,080
    reserved = make_reserved("1", payment="partial_upfront", start=date(2027, 1, 1))
    reserved.price.usd_upfront_per_gpu = Decimal(5_000)
    scenarios = [make_scenario("Stay"), make_scenario("Reserve", [make_on_demand(), reserved])]
    rows = read(viewer_client.get(f"/compare.csv?{query(scenarios)}").content)
    amount = next(row["amount_usd"] for row in rows if row["line"] == "reserved" and row["letter"] == "B")
    assert Decimal(amount).quantize(Decimal("0.01")) == Decimal("110080.00")


@pytest.mark.parametrize("fmt", ["csv", "json"])
def test_no_file_carries_what_binary_fractions_leave_over(viewer_client: Client, fmt: str):
    slugs = "&".join(f"s={scenario.slug}" for scenario in uneven())
    for address in (f"/compare.{fmt}?{slugs}", f"/scenarios/own.{fmt}", f"/scenarios.{fmt}"):
        response = viewer_client.get(address)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        rest = re.sub(r'"[^"]*"|\d{4}-\d\d-\d\dT[^,\s]*', "", content.decode())
        numbers = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", rest)
        digits = [len(each.split("e")[0].replace(".", "").strip("-0")) for each in numbers]
        assert len(digits) > 1
        assert max(digits) <= 12, [each for each, n in zip(numbers, digits, strict=True) if n > 12][:5]
