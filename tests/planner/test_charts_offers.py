"""Claims about the chart of offers: valid for plotly, cheapest cloud on top, shapes by term, text as text."""

import json

import plotly.graph_objects as go

from planner.charts.offers import Mark, is_low, strip, strip_label


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
