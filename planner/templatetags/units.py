"""How numbers look on screen: the only rounding for the eye."""

from django import template

register = template.Library()
