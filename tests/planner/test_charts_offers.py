"""Claims about the chart of offers: valid for plotly, cheapest cloud on top, shapes by term, text as text."""

import json

import plotly.graph_objects as go
import pytest

from costs.models import Price
from planner.charts.offers import LOOKS, Mark, is_low, legend, strip, strip_label


def make_mark(**changes) -> Mark:
    fields = {"cloud": "aws", "region": "us-east-1", "sku": "p5.48xlarge", "term": "on_demand"}
    return Mark(**fields | {"usd_per_gpu_hour": 6.88, "as_of": "1 Sep"} | changes)


MARKS = [
    make_mark(),
    make_mark(cloud="lambda", usd_per_gpu_hour=2.99),
    make_mark(term="spot", usd_per_gpu_hour=2.2),
]


def test_the_figure_passes_plotlys_own_check_and_is_plain_json():
    figure = strip(MARKS)
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_every_offer_is_one_mark_and_each_term_has_its_shape():
    traces = {trace["name"]: trace for trace in strip(MARKS)["data"]}
    assert {name: trace["x"] for name, trace in traces.items()} == {"on demand": [6.88, 2.99], "spot": [2.2]}
    assert len({trace["marker"]["symbol"] for trace in traces.values()}) == 2


def test_the_cheapest_cloud_stands_on_top():
    # plotly draws the first category at the bottom
    assert strip(MARKS)["layout"]["yaxis"]["categoryarray"] == ["lambda", "aws"]


def test_foreign_text_cannot_carry_tags():
    text = json.dumps(strip([make_mark(cloud="<b>x</b>", region="<a href='y'>", sku="<img>"), make_mark()]))
    assert not any(tag in text for tag in ("<b>", "<a ", "<img"))


def test_the_label_answers_where_it_is_cheapest():
    assert strip_label("H100", MARKS) == (
        "3 offers of H100 at 2 clouds; the cheapest is $2.20 a GPU-hour, spot, at aws us-east-1."
    )


def test_many_clouds_get_a_taller_chart():
    many = [make_mark(cloud=f"cloud {number}") for number in range(12)]
    assert not is_low(many)
    assert strip(many)["layout"]["height"] > strip(MARKS)["layout"]["height"]


def test_every_term_of_the_price_table_has_its_own_shape_sign_and_word():
    assert set(LOOKS) == set(Price.Term.values)
    for name in ("shape", "sign", "word"):
        assert len({getattr(look, name) for look in LOOKS.values()}) == len(Price.Term)
    for look in LOOKS.values():  # plotly refuses what it does not know
        assert go.scatter.Marker(symbol=[look.shape, f"{look.shape}-open"]).symbol


@pytest.mark.parametrize("term", Price.Term.values)
def test_an_offer_of_any_term_is_drawn_and_named_in_the_legend(term):
    marks = [make_mark(term=term), make_mark(term=term, cloud="gcp")]
    (trace,) = strip(marks)["data"]
    assert (len(trace["x"]), trace["name"]) == (2, Price.Term(term).label)
    assert legend(marks) == f"{LOOKS[term].sign} {Price.Term(term).label}"


def test_stale_offers_are_hollow_and_grey_and_lie_under_the_others():
    marks = [make_mark(), make_mark(usd_per_gpu_hour=1.0, is_stale=True)]
    stale, fresh = strip(marks)["data"]
    go.Figure(strip(marks))
    assert (stale["marker"]["symbol"], fresh["marker"]["symbol"]) == ("circle-open", "circle")
    assert stale["marker"]["color"] != fresh["marker"]["color"]
    assert stale["name"] == "on demand, stale"
    assert legend(marks).endswith("hollow: stale")


def test_the_label_names_no_stale_price_as_the_cheapest():
    stale = make_mark(cloud="vast", usd_per_gpu_hour=0.5, is_stale=True)
    assert strip_label("H100", [*MARKS, stale]).endswith(
        "the cheapest is $2.20 a GPU-hour, spot, at aws us-east-1. 1 stale ones are left out of that."
    )
    assert strip_label("H100", [stale]) == "1 offers of H100 at 1 clouds; all of them are stale."


def test_a_cloud_whose_prices_are_all_stale_stands_below_the_others():
    stale = make_mark(cloud="vast", usd_per_gpu_hour=0.5, is_stale=True)
    assert strip([*MARKS, stale])["layout"]["yaxis"]["categoryarray"] == ["vast", "lambda", "aws"]


def test_the_price_axis_is_logarithmic_unless_asked_otherwise():
    assert strip(MARKS)["layout"]["xaxis"]["type"] == "log"
    linear = strip(MARKS, "linear")["layout"]["xaxis"]
    assert (linear["type"], linear["rangemode"]) == ("linear", "tozero")
