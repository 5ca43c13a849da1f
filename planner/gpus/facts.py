"""What the maker states about a GPU: the head line of its page, each fact with where it comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from costs.models import Accelerator
from planner.core.explain import Explanation, Input, context
from planner.templatetags.units import UNKNOWN, day, month


@dataclass(frozen=True)
class Fact:
    """One fact: its key on the page, what the head line says, and the explanation that it opens."""

    key: str
    text: str
    is_known: bool
    why: Explanation

    @property
    def opens(self) -> str:
        """Return the key of its explanation on the page."""
        return f"fact-{self.key}"


def plain(value: Decimal) -> str:
    """Return a number without trailing zeros: 80, 989.4, 3,350."""
    return f"{value.normalize():,f}"


def _rate(unit: str) -> Callable[[Decimal], str]:
    return lambda value: f"{plain(value)}\u00a0{unit}"


# column, what it is called, how its value is written, what it means
_NUMBERS: tuple[tuple[str, str, Callable[[Decimal], str], str], ...] = (
    ("memory_gb", "memory", _rate("GB"), "Memory of one GPU, in 10⁹ bytes."),
    ("memory_bandwidth_gb_s", "memory bandwidth", _rate("GB/s"), "How fast one GPU reads its memory."),
    (
        "link_gb_s_per_direction", "link", _rate("GB/s a direction"),
        "How fast one GPU sends to the others of its machine, in one direction; "
        "makers often state both directions together, which is twice as much.",
    ),
    ("power_w", "power", _rate("W"), "The most that one GPU draws by its rating."),
    (
        "bf16_tflops", "bf16", _rate("TFLOPS bf16 dense"),
        "Rated arithmetic in bf16 without sparsity. Work reaches a part of it.",
    ),
)  # fmt: skip


def facts_of(accelerator: Accelerator) -> list[Fact]:
    """Return the facts of the head line; what is not known says so."""
    found = [_number(accelerator, *number) for number in _NUMBERS]
    form = accelerator.form_factor
    why = _why(accelerator, "Form", "How it is built in.", form or UNKNOWN)
    found.insert(1, Fact("form", form or "form unknown", bool(form), why))
    return [*found, _launch(accelerator)]


def _number(
    accelerator: Accelerator, column: str, name: str, written: Callable[[Decimal], str], meaning: str
) -> Fact:
    value: Decimal | None = getattr(accelerator, column)
    text = f"{name} {UNKNOWN}" if value is None else written(value)
    title = name[:1].upper() + name[1:]
    number = None if value is None else float(value)
    return Fact(column, text, value is not None, _why(accelerator, title, meaning, text, number))


def _launch(accelerator: Accelerator) -> Fact:
    on = accelerator.launch_date
    text = "launch unknown" if on is None else f"launched {month(on)}"
    why = _why(
        accelerator, "Launch", "When it was announced or first sold.", UNKNOWN if on is None else day(on)
    )
    return Fact("launch", text, on is not None, why)


def _why(
    accelerator: Accelerator, title: str, meaning: str, text: str, number: float | None = None
) -> Explanation:
    """Return where a fact comes from: the table states one reference for all facts of a GPU."""
    read = (
        f"read {day(accelerator.reference_date)}" if accelerator.reference_date else "date of reading unknown"
    )
    inputs = [
        Input("Value", number, text, symbol="" if number is None else "value"),
        context("Reference", accelerator.reference, read),
        context("Loaded by", f"accelerators, run {accelerator.batch.run_id}"),
    ]
    if accelerator.notes:
        inputs.append(context("Notes", accelerator.notes))
    expression = "" if number is None else "value"  # stated, not worked out
    title = f"{title} of {accelerator.name}"
    return Explanation(title, meaning, "", tuple(inputs), number, "as stated", expression)
