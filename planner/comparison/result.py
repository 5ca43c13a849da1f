"""What a comparison says: the one result behind the page, its charts, the JSON, the CSV and the shell.

Frozen values only, no HTML. Numbers stand raw beside the text for the eye, so that no reader rounds or
calculates on its own. `None` is unknown or not applicable; `reason` then says why. Letters A to D stand
for the scenarios in the order of the address and are the same everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from planner.comparison.published_runs import ReferenceRun
from planner.core.explain import Explanation
from planner.core.plan import SupplyKind

ViewName = Literal["cash", "amortized", "present_value"]
Letter = Literal["A", "B", "C", "D"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D")
Unit = Literal[
    "money", "money_per_gpu_hour", "gpu_hours", "gpus", "share", "days", "run_days", "runs_a_month"
]
RowKind = Literal["line", "total", "figure"]
Meaning = Literal["better", "worse", "same", "none"]  # of a delta or an answer, for colour and arrow


@dataclass(frozen=True)
class Figure:
    """One number: raw, and as text in the rules of the pages.

    `explain` is a key of Comparison.explanations, "" where the figure opens nothing.
    """

    value: float | None
    text: str  # "$1.42 M", "62 %", "unknown", "—"
    reason: str = ""  # why there is no value
    explain: str = ""


@dataclass(frozen=True)
class Delta:
    """The difference to the base: `text` is "−$1.42 M" with its sign, `share_text` "−12.2 %" or "".

    `explain` is the key of its explanation; that of its share is named share_ where this is named delta_.
    """

    value: float | None
    share: float | None
    text: str
    share_text: str
    arrow: Literal["▼", "▲", ""]
    meaning: Meaning
    explain: str = ""


@dataclass(frozen=True)
class Part:
    """A piece of a sentence. `strong` is a figure or a name; `letter` is set where a scenario is named."""

    text: str
    strong: bool = False
    letter: Letter | None = None
    explain: str = ""


@dataclass(frozen=True)
class Answer:
    """The sentence that answers the page, and the one under it. Joined texts read as plain sentences.

    `letter` is the scenario that the answer recommends looking at; None where no plan may be called
    cheaper (totals unknown, or plans that leave different GPU-hours unmet).
    """

    letter: Letter | None
    meaning: Meaning
    sentence: tuple[Part, ...]
    detail: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.sentence)

    @property
    def detail_text(self) -> str:
        return "".join(part.text for part in self.detail)


@dataclass(frozen=True)
class PriceDate:
    """At which moment a scenario's listed prices are read."""

    moment: datetime
    is_kept: bool  # the revision keeps it: no later price list changes the numbers
    is_listed: bool  # some price is read from price lists at all
    short: str  # "3 Nov", "newest", "typed"

    @property
    def text(self) -> str:
        """Return it as a card says it: "prices of 3 Nov", "newest prices"."""
        return f"{self.short} prices" if self.short in ("newest", "typed") else f"prices of {self.short}"


@dataclass(frozen=True)
class Recompute:
    """The same comparison with other dates of prices: what to write on its link, and its query string."""

    text: str
    query: str


@dataclass(frozen=True)
class Column:
    """One scenario of the comparison."""

    letter: Letter
    slug: str
    name: str  # as typed: text, never markup
    revision: int
    is_base: bool
    is_cheapest: bool  # False for all where no plan may be called cheapest
    is_plan_of_record: bool
    is_sample: bool
    currency: str
    prices: PriceDate


@dataclass(frozen=True)
class MixPart:
    """The share of one kind of supply in the useful GPU-hours: the mix bar. `x` and `width` in percent."""

    kind: SupplyKind
    label: str  # "owned", "reserved", "on demand", "spot"
    share: float
    x: float
    width: float
    text: str  # "48 %"


@dataclass(frozen=True)
class Card:
    """One scenario in figures."""

    column: Column
    total: Figure  # in the view
    total_note: str  # "over 36 months"
    delta: Delta | None  # None for the base
    mix: tuple[MixPart, ...]
    mix_text: str  # the mix bar for screen readers
    break_even: Figure  # value: month index from 1; text "Jun 2029", "at once", "not in 36 months", "—"
    pays_above: Figure  # share of available hours; text "49 % util."
    planned_use: Figure  # of the same capacity, in this plan
    peak_cash: Figure
    served: Figure  # share of demand
    unmet: Figure  # GPU-hours
    unit_cost: Figure  # per useful GPU-hour in the view


@dataclass(frozen=True)
class Cell:
    """One scenario's figure in a row; `delta` is None in the base's column and where it says nothing."""

    letter: Letter
    figure: Figure
    delta: Delta | None


@dataclass(frozen=True)
class Row:
    """One line of "line by line". Rows of kind "line" add up to the row of kind "total"."""

    key: str  # stable name: "hardware", "total", "unmet_gpu_hours": what files call it
    group: str  # heading: "Cash cost, 36 months", "Unit economics and fit"
    label: str
    unit: Unit
    kind: RowKind
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Line:
    """One scenario's cumulative cost by month, in the view. Unknown months are None."""

    letter: Letter
    name: str
    values: tuple[float | None, ...]
    end: Figure  # the label at the line's end: "$10.2 M"


@dataclass(frozen=True)
class Mark:
    """A dated fact to write on the cumulative chart: "C cheaper than A from Jun 2029"."""

    letter: Letter
    month: date
    value: float
    text: str


@dataclass(frozen=True)
class Served:
    """Mean useful GPUs by kind and month of one scenario; kinds in the order of stacking."""

    letter: Letter
    name: str
    kinds: Mapping[SupplyKind, tuple[float, ...]]
    unmet: tuple[float, ...]
    demand: tuple[float, ...]


@dataclass(frozen=True)
class WeekSeries:
    """Measured use by week: share of available GPU-hours in use, None in weeks without measurement."""

    label: str  # "fleet", or the name of a pool
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class BreakEvenLine:
    """The utilization above which a scenario pays, drawn on the measured weeks."""

    letter: Letter
    share: float
    text: str  # "C pays above 49 %"


@dataclass(frozen=True)
class MeasuredUse:
    """The measured fleet beside the plans; None in Comparison where nothing is measured."""

    weeks: tuple[date, ...]  # Mondays
    fleet: WeekSeries
    pools: tuple[WeekSeries, ...]
    busy_gpus: tuple[float | None, ...]  # of the fleet, mean by week
    last: Figure  # the last week's share: "64 %"
    fleet_gpus: float
    source: str  # "sample-east, 148 GPUs, week to 29 Nov"
    is_sample: bool


@dataclass(frozen=True)
class Series:
    """What the three charts draw. `months` are first days, the same for all scenarios."""

    months: tuple[date, ...]
    cumulative: tuple[Line, ...]
    marks: tuple[Mark, ...]
    served: tuple[Served, ...]
    measured: MeasuredUse | None
    break_evens: tuple[BreakEvenLine, ...]


@dataclass(frozen=True)
class Slider:
    """One what-if. All its numbers are in the unit shown: 62, not 0.62.

    `saved` is what the scenarios say now, None where they differ among themselves; `value` is then the
    base's until the slider is moved. `measured` places the tick, None where nothing is measured.
    """

    key: str  # parameter of the address: util, demand, growth, drift_year, capex_gpu, kwh
    label: str
    unit: str  # "%", "GPUs", "$", "$/kWh"
    minimum: float
    maximum: float
    step: float
    decimals: int
    value: float | None  # None: no scenario has this input, the slider is not shown as usable
    saved: float | None
    saved_text: str  # "62 %", or "A 62 %, C 70 %" where they differ
    measured: float | None
    measured_at: float | None  # place of the tick, percent of the track; None where outside or not measured
    hint: str  # "Actual, last 8 weeks: median 62 %, range 51–69 %", or where the saved value comes from
    is_changed: bool


@dataclass(frozen=True)
class GapLine:
    """A missing input of one scenario, in words, with the scenario's letter."""

    letter: Letter
    supply: str
    field: str
    text: str


@dataclass(frozen=True)
class SourceLine:
    """Where a price of the comparison comes from: for the foot of the cards and for every file."""

    letter: Letter
    supply: str
    text: str  # "AWS p5.48xlarge us-east-1, on demand, $6.88/GPU-h"
    value: float | None
    as_of: datetime | date | None
    run_id: int | None  # of the ingest run, for the link
    typed_by: str  # "" for a fact


@dataclass(frozen=True)
class Comparison:
    """The whole answer for one address."""

    view: ViewName
    view_label: str  # "Cash", "Amortized", "Present value"
    base: Letter
    as_of: datetime  # of the page: of measured use, and of prices that no scenario keeps
    is_frozen: bool  # as_of stands in the address
    prices_text: str  # at which date prices are read: "Newest prices, of …", "Prices of different dates"
    is_sample: bool
    currency: str
    gpu_model: str  # name of the accelerator, "" where the scenarios differ
    start: date
    months: int  # common to all scenarios
    columns: tuple[Column, ...]
    answer: Answer
    cards: tuple[Card, ...]
    rows: tuple[Row, ...]
    series: Series
    sliders: tuple[Slider, ...]
    overrides: Mapping[str, float]  # as in the address, in the unit shown
    changed_text: str  # "2 assumptions differ from the saved scenarios", "Same as the saved scenarios"
    gaps: tuple[GapLine, ...]
    notes: tuple[str, ...]  # of the model, with the letter in front
    notices: tuple[str, ...]  # about this address: different horizons, an override refused
    dates_notice: str  # which scenario uses prices of which date, "" where all use one
    recompute: tuple[Recompute, ...]  # what the notice offers
    sources: tuple[SourceLine, ...]
    runs: tuple[int, ...]  # ingest runs behind the prices, ascending
    query: str  # of the address, in canonical order; live unless it names a data date
    frozen_query: str  # the same with data date and revisions: reproduces this result for good
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    reference_run: ReferenceRun | None = None  # of the base; None where none is published for its GPU
    reference_runs: tuple[ReferenceRun, ...] = ()  # published for the base's GPU
    typed_run: float | None = None  # GPU-hours of the run that the address names

    def column(self, letter: Letter) -> Column:
        return next(column for column in self.columns if column.letter == letter)
