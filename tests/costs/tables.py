"""Everything that the fact tables say, without numbers that only the database gives."""

from typing import Any

from costs.models import Accelerator, Batch, Price, Sku, Utilization


def dump() -> dict[str, list[Any]]:
    """Return the content of every fact table, whatever order its rows were written in."""
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in (
        Accelerator, Batch, Price, Sku, Utilization
    )}  # fmt: skip


def current_prices() -> dict[tuple[str, str], str]:
    """Return the price now of every (sku, region) as text without trailing zeros."""
    rows = Price.objects.filter(effective_to=None).values_list("sku__name", "region", "price_per_hour")
    return {(sku, region): f"{price.normalize():f}" for sku, region, price in rows}


def history(sku: str) -> list[tuple[str, str, str | None]]:
    """Return price, first day and last day of every price that an offer had."""
    rows = Price.objects.filter(sku__name=sku).order_by("effective_from")
    return [
        (
            f"{row.price_per_hour.normalize():f}",
            f"{row.effective_from:%Y-%m-%d}",
            f"{row.effective_to:%Y-%m-%d}" if row.effective_to else None,
        )
        for row in rows
    ]
