"""Small pictures as SVG and numbers that open: readable by screen readers, on paper, without scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join, json_script
from django.utils.safestring import SafeString

from planner.templatetags.units import UNKNOWN

register = template.Library()

WIDTH, HEIGHT, EDGE = 84, 22, 2


@register.simple_tag
def sparkline(values: Sequence[float | None]) -> SafeString | str:
    """Return a line through the known values, a dot at the last; gaps interrupt it."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    step = (WIDTH - 2 * EDGE) / (len(values) - 1)
    path, pen_down, dot = [], False, (0.0, 0.0)
    for index, value in enumerate(values):
        if value is None:
            pen_down = False
            continue
        dot = (EDGE + index * step, HEIGHT - EDGE - (value - low) / span * (HEIGHT - 2 * EDGE))
        path.append(f"{'L' if pen_down else 'M'}{dot[0]:.1f} {dot[1]:.1f}")
        pen_down = True
    return format_html(
        '<svg class="sparkline" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"/>'
        '<circle cx="{}" cy="{}" r="2.4"/></svg>',
        WIDTH,
        HEIGHT,
        "".join(path),
        f"{dot[0]:.1f}",
        f"{dot[1]:.1f}",
    )


@register.simple_tag
def figure_data(figure: Mapping[str, Any], chart: str) -> SafeString:
    """Return a chart's figure as a JSON block that static/js/charts.js reads."""
    return json_script(figure, f"figure-{chart}")


@register.simple_tag
def popovers(explanations: Mapping[str, Any]) -> SafeString:
    """Return the popover of every explanation; a difference stands in that of the figure it is of.

    Made here and not in a template: a comparison has a hundred of them.
    """
    followers: dict[str, list[Any]] = {}
    for key in explanations:
        followed = _followed(key)
        if followed in explanations:
            followers.setdefault(followed, []).append(explanations[key])
    shown = [key for key in explanations if _followed(key) not in explanations]
    return format_html_join(
        "\n", "{}", ((popover(key, explanations[key], followers.get(key, ())),) for key in shown)
    )


def _followed(key: str) -> str:
    """Return the figure that a difference is of: of "delta_total-B" it is "total-B"."""
    prefix, mark, figure_key = key.partition("_")
    return figure_key if mark and prefix in ("delta", "share") else ""


@register.simple_tag
def popover(key: str, explanation: Any, more: Sequence[Any] = ()) -> SafeString:
    """Return the popover of one number that opens. Its button: popovertarget="why-KEY"."""
    return format_html(
        '<div class="popover" id="why-{}" popover role="dialog" aria-label="{}">{}</div>',
        key,
        explanation.title,
        format_html_join("", "{}", ((_told(each),) for each in (explanation, *more))),
    )


def _told(explanation: Any) -> SafeString:
    formula = format_html("<code>{}</code>", explanation.formula) if explanation.formula else ""
    inputs: SafeString | str = ""
    if explanation.inputs:
        rows = ((each.name, each.text, _source(each.source)) for each in explanation.inputs)
        listed = format_html_join("", "<dt>{}</dt><dd>{}{}</dd>", rows)
        inputs = format_html('<dl class="facts left">{}</dl>', listed)
    return format_html(
        "<h3>{}</h3>\n<p>{}</p>\n{}{}", explanation.title, explanation.sentence, formula, inputs
    )


def _source(source: str) -> SafeString | str:
    return format_html(' <span class="muted">· {}</span>', source) if source else ""


@register.simple_tag(takes_context=True)
def sentence(context: Any, parts: Sequence[Any]) -> SafeString:
    """Return the parts of a sentence: letters as badges, figures that open as buttons.

    The text reads "C, Own 96, costs"; beside a badge the commas around the name are one mark too many.
    """
    pieces, after_letter = [], False
    for part in parts:
        text = part.text
        if after_letter and text.startswith(", "):
            text = text[1:].removesuffix(",")
        pieces.append(_piece(context, part, text))
        after_letter = part.letter is not None
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def _piece(context: Any, part: Any, text: str) -> SafeString | str:
    if part.letter:
        return format_html('<span class="letter {}">{}</span>', part.letter, text)
    if part.explain:
        return figure(context, part)
    return format_html("<b>{}</b>", text) if part.strong else text


@register.simple_tag(takes_context=True)
def why(context: Any, key: str, text: str) -> SafeString | str:
    """Return a text as a button that opens an explanation, where there is one of a known figure."""
    explanations: Mapping[str, Any] = getattr(context.get("comparison"), "explanations", {})
    if key not in explanations or explanations[key].value is None:
        return text
    return format_html('<button type="button" class="why" popovertarget="why-{}">{}</button>', key, text)


@register.simple_tag(takes_context=True)
def figure(context: Any, each: Any) -> SafeString | str:
    """Return a Figure or Part: its text, as a button where an explanation belongs to it."""
    explanations: Mapping[str, object] = getattr(context.get("comparison"), "explanations", {})
    if each.explain and each.explain in explanations:
        return format_html(
            '<button type="button" class="why" popovertarget="why-{}">{}</button>', each.explain, each.text
        )
    if getattr(each, "reason", "") and each.value is None:
        return format_html(
            '{}<span class="visually-hidden">: {}</span>', _unknown(each.text, each.reason), each.reason
        )
    return format_html("{}", each.text)


def _unknown(text: str, reason: str) -> SafeString | str:
    if text != UNKNOWN:
        return text
    return format_html('<span class="unknown" title="{}">{}</span>', reason, text)
