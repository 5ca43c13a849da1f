"""Check a page's numbers: each opens an explanation, and says what the inputs of that explanation give."""

import re
from collections.abc import Callable, Iterable, Mapping
from html import unescape
from typing import Any

from planner.core.explain import Explanation, agrees, recompute
from planner.spot.costs import interval_text, money_text
from planner.spot.zones import Known
from planner.templatetags import units

Texts = Callable[[float], Iterable[str]]
# a band of interruptions is a published name, "5-10%", and no number of ours
BAND = re.compile(r"(?:\d+-|[<>])\d+%")


def texts_of(value: float, currency: str = "USD") -> set[str]:
    """Return every way in which pages write a number."""
    money = (units.usd, units.usd_short, units.usd_short_signed, units.usd_per_hour)
    plain = (
        units.percent, units.percent_signed, units.points, units.count, units.gpu_hours,
    )  # fmt: skip
    found = {write(value, currency) for write in money} | {write(value) for write in plain}
    # the answer says "less" in place of the sign, and a bound says so
    found |= {text.lstrip("+") for text in found} | {write(abs(value), currency) for write in money}
    found |= {f"{value:.3g}", f"{value:.3g}{units.NBSP}d", f"{units.count(value)}{units.NBSP}d"}
    found |= {f"{round(value / 7)}{units.NBSP}wk", f"{value:.2g}{units.NBSP}h"}
    found |= {interval_text(Known(value)), money_text(Known(value))}
    return found


def assert_follows(told: Mapping[str, Explanation]) -> None:
    """Assert that every figure is what its inputs give, and that what is no number has no expression."""
    assert told
    for key, explanation in told.items():
        assert explanation.title, key
        assert agrees(explanation), (key, explanation)
        if not explanation.expression:
            assert explanation.value is None, key


def assert_shown(body: str, told: Mapping[str, Explanation], more: Texts = lambda value: ()) -> int:
    """Assert that each number that opens says what its explanation gives; return how many there are."""
    assert_follows(told)
    buttons = re.findall(
        r'<button type="button" class="why[^"]*" popovertarget="why-([^"]+)">(.*?)</button>', body, re.S
    )
    checked = 0
    for key, inner in buttons:
        assert body.count(f'id="why-{key}"') == 1, key
        assert key in told, key
        text = unescape(re.sub(r"<[^>]+>", "", inner)).strip()
        again = recompute(told[key])
        if again is None or 'class="delta' in inner:  # its popover holds total and difference
            continue
        bare = _bare(text)
        assert bare in {_bare(one) for one in (*texts_of(again), *more(again))}, (key, text, again)
        checked += 1
    return checked


def _bare(text: str) -> str:
    """Return a number without what a page adds: a bound's sign, what it is per, what it is of."""
    text = text.replace("\u2011", "-")
    text = re.sub(r"^[≥≤]\u00a0", "", text)
    return re.sub(r"(/GPU-h|/machine-h|\u00a0util\.)$", "", text)


def assert_answer_opens(body: str) -> None:
    """Assert that no amount or share stands in the answer that opens nothing."""
    (answer,) = re.findall(r'<section class="answer[^"]*".*?</section>', body, re.S)
    rest = re.sub(r"<button.*?</button>", "", answer, flags=re.S)
    text = BAND.sub("", unescape(re.sub(r"<[^>]+>", "", rest)))
    assert not re.search(r"[$€£]\d|\d\u00a0?%|\d\u00a0pt|GPU-h\b.*\d", text), text


def body_of(response: Any) -> str:
    assert response.status_code == 200
    return response.content.decode()
