"""Links that keep the state of the address, and change one thing in it."""

from typing import Any

from django import template
from django.http import QueryDict
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()

NOT_STATE = ("live",)  # of the request that draws while a slider moves, not of the page


def _state(context: Any) -> QueryDict:
    query: QueryDict = context["request"].GET.copy()
    for name in NOT_STATE:
        query.pop(name, None)
    views = [view for view in query.getlist("view") if view and view != "print"]
    if "view" in query:
        query.setlist("view", views[-1:])
    return query


@register.simple_tag(takes_context=True)
def state(context: Any, **changes: Any) -> str:
    """Return "?…" of this address with some parameters changed; None takes one out."""
    query = _state(context)
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}" if query else "?"


@register.simple_tag(takes_context=True)
def state_for_print(context: Any) -> str:
    """Return "?…" of this address laid out for paper."""
    query = _state(context)
    query.appendlist("view", "print")
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def state_without(context: Any, name: str, value: str) -> str:
    """Return "?…" of this address without one of several values: a filter, a scenario."""
    query = _state(context)
    query.setlist(name, [each for each in query.getlist(name) if each.partition("~")[0] != value])
    if query.get("base") == value:
        del query["base"]
    return f"?{query.urlencode()}" if query else "?"


@register.simple_tag(takes_context=True)
def state_with(context: Any, name: str, value: str) -> str:
    """Return "?…" of this address with one more value: a filter, a scenario."""
    query = _state(context)
    query.appendlist(name, value)
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def state_fields(context: Any, *left_out: str) -> SafeString:
    """Return this address as hidden fields, for a form that sets the parameters left out."""
    pairs = [
        (name, value)
        for name, values in _state(context).lists()
        if name not in left_out
        for value in values
        if value
    ]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)
