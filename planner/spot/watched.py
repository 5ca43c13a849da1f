"""What stands behind the prices of a zone: of one GPU now, and how they were spread over the window."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cached_property

from planner.core.explain import Explanation, Input
from planner.spot.days import full_day
from planner.spot.gather import Spot
from planner.spot.zones import FAR_UNDER, ZoneLine
from planner.templatetags.units import count, moment, percent, usd_per_hour

AN_HOUR = timedelta(hours=1)
PER_GPU = "rounded({} / gpus, 9)"


@dataclass(frozen=True)
class Watched:
    """The prices of one zone as inputs; the series are read once for all its figures."""

    spot: Spot
    line: ZoneLine

    @property
    def source(self) -> str:
        """Return what stated the price."""
        series = self.line.series
        return f"{series.source} run {series.run_id}, last seen {moment(series.last_seen_at)}"

    @property
    def now_input(self) -> Input:
        """Return the price now, as an input of other figures."""
        return Input(
            "Spot price", _float(self.line.now_usd), usd_per_hour(self.line.now_usd), self.source, "spot"
        )

    @property
    def on_demand_input(self) -> Input:
        """Return the on-demand price of the same machine and region, as an input of other figures."""
        stated, usd = self.line.on_demand, self.line.on_demand_usd
        said = (
            "" if stated is None else f"{stated.source} run {stated.run_id}, as of {full_day(stated.as_of)}"
        )
        return Input(
            "On demand", _float(usd), usd_per_hour(usd), said or self.line.on_demand_reason, "on_demand"
        )

    @property
    def price_inputs(self) -> tuple[Input, ...]:
        """Return the price now, and the on-demand price where there is one."""
        return (self.now_input, *([self.on_demand_input] if self.line.on_demand is not None else []))

    @property
    def gpus(self) -> Input:
        """Return the GPUs of the machine; 1 where they are not on file, for then prices are the machine's."""
        known = self.line.gpu_count
        return Input("GPUs of the machine", float(known or 1), count(known or 1), symbol="gpus")

    @cached_property
    def series(self) -> tuple[Input, Input]:
        """Return the prices of the machine in the window, and how long each held."""
        steps = [step for step in self.line.series.steps if step.held]
        hours = tuple(step.held / AN_HOUR for step in steps)
        prices = tuple(float(step.price_per_hour) for step in steps)
        return (
            Input(
                "Prices of the machine",
                prices or None,
                f"{count(len(prices))} in the window",
                self.source,
                "prices",
            ),
            Input("Hours that each held", hours or None, f"{sum(hours):,.0f} h watched", symbol="held"),
        )

    def now(self) -> Explanation:
        """Return the price of a GPU now."""
        line, price = self.line, self.line.series.price_per_hour
        return Explanation(
            f"Spot price now in {line.label}",
            "The newest price of the machine, over its GPUs.",
            f"{usd_per_hour(price)} / {self.gpus.text} = {usd_per_hour(line.now_usd)}/{self.spot.unit}",
            (
                Input("Price of the machine", float(price), usd_per_hour(price), self.source, "price"),
                self.gpus,
            ),
            _float(line.now_usd),
            f"USD per {self.spot.unit}",
            PER_GPU.format("price"),
        )

    def on_demand(self) -> Explanation:
        """Return the on-demand price of a GPU."""
        line = self.line
        price = None if line.on_demand is None else line.on_demand.usd_per_hour
        stated = self.on_demand_input
        return Explanation(
            f"On demand beside {line.label}",
            "The on-demand price of the same machine in the same region, over its GPUs.",
            f"{usd_per_hour(price)} / {self.gpus.text} = {usd_per_hour(line.on_demand_usd)}/{self.spot.unit}",
            (
                Input("Price of the machine", _float(price), usd_per_hour(price), stated.source, "price"),
                self.gpus,
            ),
            _float(line.on_demand_usd),
            f"USD per {self.spot.unit}",
            PER_GPU.format("price"),
        )

    def quantile(self, name: str, share: float) -> Explanation:
        """Return the price at or below which the price was for a share of the time: p50, p95."""
        value: Decimal | None = getattr(self.line.spread, name) if self.line.spread else None
        return Explanation(
            f"{name} in {self.line.label}",
            f"The lowest price at or below which the price was for {percent(share)} of the watched time.",
            f"{name} of {self.series[0].text}, over {self.gpus.text} GPUs = {usd_per_hour(value)}",
            (*self.series, self.gpus),
            _float(value),
            f"USD per {self.spot.unit}",
            PER_GPU.format(f"held_price(prices, held, {share})"),
        )

    def volatility(self) -> Explanation:
        """Return how far the price strays from its mean."""
        value = self.line.volatility
        return Explanation(
            f"Volatility in {self.line.label}",
            "Standard deviation over mean of the prices in the window, each weighted by the time it held.",
            f"standard deviation / mean of {self.series[0].text} = {percent(value)}",
            self.series,
            _float(value),
            "share",
            "rounded(held_variation(prices, held), 6)",
        )

    def under(self) -> Explanation:
        """Return the share of watched time far under the on-demand price."""
        line = self.line
        usd = None if line.on_demand is None else line.on_demand.usd_per_hour
        return Explanation(
            f"Under on-demand × {FAR_UNDER} in {line.label}",
            "The share of watched time in which the machine cost at most that part of its on-demand price.",
            f"time with price ≤ {FAR_UNDER} × {usd_per_hour(usd)} / watched time "
            f"= {percent(line.under_share)}",
            (
                *self.series,
                Input(
                    "On demand, the machine",
                    _float(usd),
                    usd_per_hour(usd),
                    self.on_demand_input.source,
                    "on_demand",
                ),
                Input("Part of it", float(FAR_UNDER), str(FAR_UNDER), symbol="part"),
            ),
            _float(line.under_share),
            "share of watched time",
            "rounded(held_share(prices, held, part * on_demand), 6)",
        )

    def worth(self) -> Explanation:
        """Return the share of paid hours that losses may cost before spot is the dearer one."""
        line = self.line
        limit = line.pays_under.value
        return Explanation(
            "What losses may cost",
            f"The share of paid hours that may be lost in {line.label} before a useful hour on spot costs as "
            "much as one on demand.",
            f"1 − spot / on demand = 1 − {usd_per_hour(line.now_usd)} / {usd_per_hour(line.on_demand_usd)} "
            f"= {percent(limit)}",
            self.price_inputs,
            limit,
            "share of paid hours",
            "1 - spot / on_demand",
        )


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
