"""Build a Comparison for tests of charts and pages: four scenarios, 36 months, 12 measured weeks."""

from datetime import UTC, date, datetime, timedelta

from planner.comparison.result import (
    Answer,
    BreakEvenLine,
    Card,
    Cell,
    Column,
    Comparison,
    Delta,
    Figure,
    Line,
    Mark,
    MeasuredUse,
    MixPart,
    Part,
    PriceDate,
    Row,
    Series,
    Served,
    Slider,
    SourceLine,
    WeekSeries,
)
from planner.core.calendar import Horizon
from planner.core.explain import Explanation, Input
from planner.templatetags.units import usd, usd_short, usd_short_signed

NAMES = {
    "A": "Stay on demand",
    "B": "Reserve 96, 3 years",
    "C": "Own 96 + reserve 32",
    "D": "Own 192 in colocation",
}
MONTHLY = {"A": 323_000.0, "B": 306_000.0, "C": 180_000.0, "D": 120_000.0}
PURCHASE = {"A": {}, "B": {}, "C": {0: 965_000.0, 5: 2_251_000.0}, "D": {0: 1_930_000.0, 8: 4_502_000.0}}
MONTHS = 36
AS_OF = datetime(2026, 11, 30, 9, 40, tzinfo=UTC)


def costs(letter: str) -> tuple[float, ...]:
    """Return a cumulative cost: the same every month, with purchases where there are some."""
    total, values = 0.0, []
    for index in range(MONTHS):
        total += MONTHLY[letter] + PURCHASE[letter].get(index, 0.0)
        values.append(total)
    return tuple(values)


def make_line(letter: str, values: tuple[float | None, ...] | None = None) -> Line:
    values = costs(letter) if values is None else values
    known = [value for value in values if value is not None]
    return Line(
        letter,
        NAMES[letter],
        values,
        Figure(known[-1] if known else None, usd_short(known[-1] if known else None)),
    )


def make_measured(**changes) -> MeasuredUse:
    shares = (0.49, 0.47, 0.54, 0.58, 0.51, 0.60, 0.63, 0.61, 0.66, 0.69, 0.62, 0.64)
    defaults = {
        "weeks": tuple(date(2026, 9, 7) + timedelta(weeks=week) for week in range(12)),
        "fleet": WeekSeries("fleet", shares),
        "pools": (
            WeekSeries("training", tuple(share + 0.12 for share in shares)),
            WeekSeries("inference", tuple(share - 0.15 for share in shares)),
        ),
        "busy_gpus": (74, 76, 79, 80, 81, 84, 86, 86, 89, 91, 90, 92),
        "last": Figure(0.64, "64\u00a0%"),
        "fleet_gpus": 148,
        "source": "sample-east, 148 GPUs, week to 29 Nov",
        "is_sample": True,
    }
    return MeasuredUse(**{**defaults, **changes})


def make_series(**changes) -> Series:
    months = tuple(Horizon(date(2026, 12, 1), MONTHS).first_days())
    demand = tuple(92 * 1.015**index for index in range(MONTHS))
    owned = {"A": 0, "B": 0, "C": 60, "D": 118}
    reserved = {"A": 0, "B": 60, "C": 20, "D": 0}

    def serve(letter: str) -> Served:
        own = tuple(min(owned[letter], d) if index >= 5 else 0.0 for index, d in enumerate(demand))
        res = tuple(min(reserved[letter], d - o) for d, o in zip(demand, own, strict=True))
        spot = tuple(0.12 * (d - o - r) for d, o, r in zip(demand, own, res, strict=True))
        unmet = tuple(4.0 if letter == "A" and index < 4 else 0.0 for index in range(MONTHS))
        rest = tuple(d - o - r - s - u for d, o, r, s, u in zip(demand, own, res, spot, unmet, strict=True))
        kinds = {"owned": own, "reserved": res, "spot": spot, "on_demand": rest}
        return Served(letter, NAMES[letter], kinds, unmet, demand)

    defaults = {
        "months": months,
        "cumulative": tuple(make_line(letter) for letter in NAMES),
        "marks": (
            Mark("C", date(2029, 6, 1), costs("C")[30], "C cheaper than A from Jun 2029"),
            Mark("C", date(2027, 5, 1), costs("C")[5], "C: 96 GPUs live"),
        ),
        "served": tuple(serve(letter) for letter in NAMES),
        "measured": make_measured(),
        "break_evens": (
            BreakEvenLine("B", 0.55, "B pays above 55\u00a0%"),
            BreakEvenLine("C", 0.49, "C pays above 49\u00a0%"),
            BreakEvenLine("D", 0.50, "D pays above 50\u00a0%"),
        ),
    }
    return Series(**{**defaults, **changes})


def make_column(letter: str) -> Column:
    slug = NAMES[letter].lower().replace(" ", "-").replace(",", "").replace("+-", "")
    return Column(letter, slug, NAMES[letter], 1, letter == "A", letter == "C", letter == "B", True, "USD",
                  PriceDate(AS_OF, False, True, "newest"))  # fmt: skip


def make_delta(change: float, base: float) -> Delta:
    share = change / base
    return Delta(
        change,
        share,
        usd_short_signed(change),
        f"{'+' if share > 0 else chr(0x2212)}{abs(share):.1%}".replace("%", "\u00a0%"),
        "▼" if change < 0 else "▲",
        "better" if change < 0 else "worse",
    )


def make_card(letter: str) -> Card:
    total, base = costs(letter)[-1], costs("A")[-1]
    return Card(
        column=make_column(letter),
        total=Figure(total, usd_short(total), explain=f"total-{letter}"),
        total_note="over 36 months",
        delta=None if letter == "A" else make_delta(total - base, base),
        mix=(
            MixPart("owned", "owned", 0.6, 0.0, 60.0, "60 %"),
            MixPart("on_demand", "on demand", 0.4, 60.0, 40.0, "40 %"),
        ),
        mix_text="GPU-hours served: owned 60 %, on demand 40 %",
        break_even=Figure(None, "—") if letter == "A" else Figure(31, "Jun 2029"),
        pays_above=Figure(None, "—") if letter == "A" else Figure(0.49, "49\u00a0% util."),
        planned_use=Figure(None, "—") if letter == "A" else Figure(0.71, "71\u00a0%"),
        peak_cash=Figure(2_431_000.0, "$2.43\u00a0M"),
        served=Figure(1.0, "100\u00a0%"),
        unmet=Figure(0.0, "0\u00a0GPU-h"),
        unit_cost=Figure(3.22, "$3.22"),
    )


def make_row(key: str, group: str, label: str, kind: str, values: dict[str, float]) -> Row:
    cells = tuple(
        Cell(
            letter,
            Figure(value, usd(value)),
            make_delta(value - values["A"], values["A"] or 1.0)
            if letter != "A" and value != values["A"]
            else None,
        )
        for letter, value in values.items()
    )
    return Row(key, group, label, "money", kind, cells)


def make_slider(key: str = "util", **changes) -> Slider:
    defaults = {
        "key": key,
        "label": "Utilization of owned + reserved",
        "unit": "%",
        "minimum": 30.0,
        "maximum": 90.0,
        "step": 1.0,
        "decimals": 0,
        "value": 62.0,
        "saved": 62.0,
        "saved_text": "62\u00a0%",
        "measured": 62.0,
        "measured_at": 53.33,
        "hint": "Actual, last 8 weeks: median 62\u00a0%, range 51–69\u00a0%",
        "is_changed": False,
    }
    return Slider(**{**defaults, **changes})


def make_comparison(**changes) -> Comparison:
    """Return a whole comparison; C is the cheapest, A the base."""
    hardware = {letter: sum(PURCHASE[letter].values()) for letter in NAMES}
    rest = {letter: costs(letter)[-1] - hardware[letter] for letter in NAMES}
    group = "Cash cost, 36 months"
    defaults = {
        "view": "cash",
        "view_label": "Cash",
        "base": "A",
        "as_of": AS_OF,
        "is_frozen": False,
        "prices_text": "Newest prices, of 30 Nov 2026 09:40 UTC",
        "is_sample": True,
        "currency": "USD",
        "gpu_model": "h100-sxm",
        "start": date(2026, 12, 1),
        "months": MONTHS,
        "columns": tuple(make_column(letter) for letter in NAMES),
        "answer": Answer(
            "C",
            "better",
            (
                Part("C", strong=True, letter="C"),
                Part(" Own 96 + reserve 32 costs "),
                Part("$1.93\u00a0M", strong=True, explain="saving"),
                Part(" less than staying on demand over 36 months, 16.6\u00a0%."),
            ),
            (
                Part("C", letter="C"),
                Part(" pays above "),
                Part("49\u00a0%", strong=True),
                Part(" utilization of what it owns; today's fleet runs at "),
                Part("62\u00a0%", strong=True),
                Part(". Cumulative break-even: "),
                Part("Jun 2029", strong=True),
                Part("."),
            ),
        ),
        "cards": tuple(make_card(letter) for letter in NAMES),
        "rows": (
            make_row("hardware", group, "Hardware purchase", "line", hardware),
            make_row("cloud", group, "Cloud and running", "line", rest),
            make_row("total", group, "Total", "total", {letter: costs(letter)[-1] for letter in NAMES}),
        ),
        "series": make_series(),
        "sliders": (
            make_slider(),
            make_slider(
                "growth",
                label="Demand growth a month",
                minimum=-1.0,
                maximum=5.0,
                step=0.1,
                decimals=1,
                value=1.5,
                measured=1.7,
                measured_at=45.0,
                hint="Actual, last 6 months: +1.7\u00a0% a month",
            ),
        ),
        "overrides": {},
        "changed_text": "Same as the saved scenarios",
        "gaps": (),
        "notes": (),
        "notices": (),
        "dates_notice": "",
        "recompute": (),
        "sources": (
            SourceLine(
                "A", "On demand", "AWS p5.48xlarge us-east-1, on demand, $6.88/GPU-h", 6.88, None, None, ""
            ),
        ),
        "runs": (),
        "query": "s=a&s=b",
        "frozen_query": "s=a&s=b&as_of=2026-11-30T09:40:00Z",
        "explanations": {
            "saving": Explanation(
                "Saving against the baseline",
                "Total of C less total of A.",
                "$11.6 M − $9.70 M = $1.93 M",
                (),
            ),
            **{
                f"total-{letter}": Explanation(
                    f"Total of {letter}",
                    "Every payment.",
                    "hardware + cloud",
                    (Input("Prices", None, "AWS", "run 1"),),
                )
                for letter in NAMES
            },
        },
    }
    return Comparison(**{**defaults, **changes})
