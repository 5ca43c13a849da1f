"""Claims about the chart of a GPU's price: stepped, with gaps, shaded after the last sight, text as text."""

import json
from datetime import date
from itertools import pairwise

import plotly.graph_objects as go

from planner.charts.price_history import (
    Fact,
    PriceHistory,
    PriceLine,
    Span,
    price_history,
    price_history_label,
    price_history_table,
)

CUT = date(2025, 6, 5)


def spans(*values) -> list[Span]:
    """Return spans of a month each, from January 2025 on; None is a gap."""
    days = [date(2025, month, 1) for month in range(1, len(values) + 2)]
    return [
        Span(first, date.fromordinal(following.toordinal() - 1), value, f"${value}", "/data/runs/7/")
        for first, following, value in zip(days, days[1:], values, strict=False)
    ]


def make_history(**changes) -> PriceHistory:
    lines = [
        PriceLine("lowest", "lowest", spans(3.0, 3.0, None, 2.0)),
        PriceLine("median", "median", spans(4.0)),
    ]
    fields = {"first": date(2025, 1, 1), "last": date(2025, 4, 30), "seen_until": date(2025, 4, 30)}
    return PriceHistory(**fields | {"term": "on_demand", "lines": lines, "facts": []} | changes)


def value_on(trace, on: date):
    return dict(zip(trace["x"], trace["y"], strict=True)).get(on.isoformat())


def test_the_figure_passes_plotlys_own_check_and_is_plain_json():
    figure = price_history(make_history(facts=[Fact(CUT, 12.29, 6.88, "aws p5.48xlarge")]))
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_lines_are_steps_and_a_gap_is_not_joined():
    lowest, median = price_history(make_history())["data"]
    assert lowest["line"]["shape"] == median["line"]["shape"] == "hv"
    assert lowest["connectgaps"] is False
    assert [value_on(lowest, date(2025, month, 1)) for month in (1, 2, 3, 4)] == [3.0, 3.0, None, 2.0]


def test_all_lines_have_a_point_on_the_same_days_at_least_every_week():
    figure = price_history(make_history())
    first, second = (trace["x"] for trace in figure["data"])
    assert first == second
    found = [date.fromisoformat(day) for day in first]
    assert max((later - day).days for day, later in pairwise(found)) <= 7


def test_a_day_between_two_gaps_is_a_dot():
    alone = PriceLine("lowest", "lowest", [Span(date(2025, 2, 3), date(2025, 2, 3), 3.0, "")])
    (trace,) = price_history(make_history(lines=[alone]))["data"]
    sizes = dict(zip(trace["x"], trace["marker"]["size"], strict=True))
    assert sizes["2025-02-03"] > 0
    assert sum(sizes.values()) == sizes["2025-02-03"]
    assert value_on(trace, date(2025, 2, 3)) == 3.0


def test_the_days_after_the_last_sight_are_shaded():
    shapes = price_history(make_history(seen_until=date(2025, 2, 10)))["layout"]["shapes"]
    assert [(shape["type"], shape["x0"], shape["x1"]) for shape in shapes] == [
        ("rect", "2025-02-10", "2025-05-01")
    ]
    assert price_history(make_history())["layout"]["shapes"] == []


def test_the_first_fact_stays_on_narrow_screens_and_names_date_and_prices():
    facts = [Fact(CUT, 12.29, 6.88, "aws p5.48xlarge"), Fact(date(2025, 3, 1), 4.0, 3.0, "lambda")]
    notes = price_history(make_history(facts=facts))["layout"]["annotations"]
    marks = {note["name"]: note["text"] for note in notes if note["name"].startswith("mark")}
    assert marks["mark"] == "aws p5.48xlarge from $12.29 to $6.88, 5\u00a0Jun\u00a02025"
    assert marks["mark-wide"].startswith("lambda from")


def test_the_scale_begins_at_zero_and_holds_the_facts():
    low, high = price_history(make_history(facts=[Fact(CUT, 12.29, 6.88, "x")]))["layout"]["yaxis"]["range"]
    assert (low, high > 12.29) == (0, True)


def test_a_press_opens_the_run():
    figure = price_history(make_history())
    assert figure["layout"]["meta"] == {"opens": "run"}
    assert figure["data"][0]["customdata"][0] == ["$3.0", "/data/runs/7/"]


def test_foreign_text_cannot_carry_tags():
    hostile = "<a href='x'>y</a><b>"
    line = PriceLine("own", hostile, [Span(date(2025, 1, 1), date(2025, 2, 1), 2.0, hostile)], hostile)
    text = json.dumps(price_history(make_history(lines=[line], facts=[Fact(CUT, 2.0, 1.0, hostile)])))
    assert "<a " not in text
    assert "<b>" not in text


def test_without_a_known_day_there_is_no_figure_and_the_label_says_so():
    empty = make_history(lines=[PriceLine("lowest", "lowest", [])], seen_until=None)
    assert price_history(empty) is None
    assert price_history_label("H100", empty) == "No price of H100 is known."


def test_the_label_answers_with_the_last_values_and_the_facts():
    label = price_history_label("H100", make_history(facts=[Fact(CUT, 12.29, 6.88, "aws p5.48xlarge")]))
    assert "lowest $2.00, median $4.00." in label
    assert "aws p5.48xlarge −44.0\u00a0% on 5\u00a0Jun\u00a02025." in label


def test_the_table_has_a_row_for_every_day_on_which_a_line_changed_the_newest_first():
    table = price_history_table(make_history(), [(date(2025, 1, 1), 2), (date(2025, 4, 1), 1)])
    assert table.heads == ("From", "lowest", "median", "Offers")
    assert [(row[0].split("\u00a0")[1], row[1]) for row in table.rows] == [
        ("Apr", ("$2.00", "unknown", "1")),
        ("Mar", ("unknown", "unknown", "2")),
        ("Feb", ("$3.00", "unknown", "2")),
        ("Jan", ("$3.00", "$4.00", "2")),
    ]


def test_facts_of_close_days_do_not_stand_on_each_other():
    facts = [Fact(date(2025, 3, 1 + number), 12.0, 6.0, f"cloud {number}") for number in range(3)]
    notes = price_history(make_history(facts=facts))["layout"]["annotations"]
    offsets = sorted(note["ay"] for note in notes if note["name"].startswith("mark"))
    assert min(later - offset for offset, later in pairwise(offsets)) >= 20
