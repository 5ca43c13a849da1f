"""Published training runs, that capacity is counted in: their useful GPU-hours, and who states them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReferenceRun:
    """A training run that capacity is counted in: its useful GPU-hours, and who states them."""

    gpu_hours: float
    name: str  # "Llama 3.1 8B", "" where a number was typed
    gpu: str  # of the hours: "H100", "" where a number was typed
    source: str

    @property
    def text(self) -> str:
        """Return it in words: "Llama 3.1 8B, 1.46 M H100 GPU-hours"."""
        hours = f"{self.gpu_hours / 1e6:,.4g} M" if self.gpu_hours >= 1e6 else f"{self.gpu_hours:,.6g}"
        return f"{self.name}, {hours} {self.gpu} GPU-hours" if self.name else f"{hours} GPU-hours"


META, BLOOM = "model card, Meta, 2024", "Luccioni, Viguier, Ligozat, JMLR 24 (2023), arXiv:2211.02001"
DEEPSEEK = "DeepSeek-V3 technical report, 2024, arXiv:2412.19437"
# what their makers state; the first of a GPU is taken where the address names none
PUBLISHED = (
    ReferenceRun(1.46e6, "Llama 3.1 8B", "H100", META),
    ReferenceRun(7.0e6, "Llama 3.1 70B", "H100", META),
    ReferenceRun(1.08e6, "BLOOM 176B", "A100", BLOOM),
    ReferenceRun(2.788e6, "DeepSeek-V3", "H800", DEEPSEEK),
)


def published_for(gpu_model: str) -> tuple[ReferenceRun, ...]:
    """Return the published runs on an accelerator: "h100-sxm-80gb" is an H100."""
    return tuple(run for run in PUBLISHED if gpu_model.casefold().split("-")[0] == run.gpu.casefold())


def run_for(gpu_model: str, typed: float | None) -> ReferenceRun | None:
    """Return the run that was asked for, or the first that is published for a GPU."""
    known = published_for(gpu_model)
    if typed is None:
        return known[0] if known else None
    named = (run for run in known if run.gpu_hours == typed)
    return next(named, ReferenceRun(typed, "", "", "typed in the address"))


def only_if_other(gpu_model: str, typed: float | None) -> float | None:
    """Return the GPU-hours that an address has to name: none where they are those taken anyway."""
    usual = run_for(gpu_model, None)
    return None if usual is not None and usual.gpu_hours == typed else typed
