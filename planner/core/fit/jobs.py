"""What is asked to fit: the shape of a model, and a job of training or of serving."""

from dataclasses import dataclass
from typing import Literal

from planner.core.fit.kv_cache import PRECISIONS, Precision
from planner.core.fit.states import CONVENTIONS, PARAMETERS, ConventionName
from planner.core.ranges import COUNT_FROM_1, Range, refuse, require_fields, require_one_of

Method = Literal["full", "lora", "qlora"]
Recomputation = Literal["none", "selective", "full"]
METHODS: tuple[Method, ...] = ("full", "lora", "qlora")
RECOMPUTATIONS: tuple[Recomputation, ...] = ("none", "selective", "full")
SIZE = Range(1, 10_000_000, whole=True)  # layers, heads, hidden units, words, tokens of a context
# A GPU needs one of these to compute in a precision. Weights of int4 are turned into 16 bits first.
COMPUTES_IN: dict[Precision, tuple[Precision, ...]] = {
    "fp32": ("fp32",),
    "bf16": ("bf16",),
    "fp16": ("fp16",),
    "fp8": ("fp8",),
    "int8": ("int8",),
    "fp4": ("fp4",),
    "int4": ("bf16", "fp16"),
}


@dataclass(frozen=True)
class ModelShape:
    """A transformer. `parameters` are all of them, also experts that a token does not visit.

    Raises ValueError where KV heads do not divide heads.
    """

    name: str
    parameters: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        require_fields(
            self,
            parameters=PARAMETERS,
            layers=SIZE,
            hidden=SIZE,
            heads=SIZE,
            kv_heads=SIZE,
            head_dim=SIZE,
            vocabulary=SIZE,
        )
        if self.heads % self.kv_heads:
            refuse("kv_heads", self.kv_heads, f"a divisor of heads, {self.heads}")


@dataclass(frozen=True)
class Training:
    """Training of all parameters, or of adapters on frozen weights (`lora`; `qlora` keeps those in 4 bits).

    `convention` says what a trained parameter keeps; `sequence` is in tokens, `micro_batch` in sequences of
    one GPU or one tensor-parallel group; a step sends `micro_batches` of them through a pipeline.
    Raises ValueError where adapters have no parameters, or full training has some.
    """

    sequence: int
    micro_batch: int = 1
    method: Method = "full"
    convention: ConventionName = "mixed_precision_adam"
    precision: Precision = "bf16"
    adapter_parameters: float = 0.0
    recomputation: Recomputation = "none"
    flash_attention: bool = True
    sequence_parallel: bool = True
    micro_batches: int = 32

    def __post_init__(self) -> None:
        """Refuse impossible jobs."""
        require_fields(
            self,
            sequence=SIZE,
            micro_batch=SIZE,
            adapter_parameters=PARAMETERS,
            micro_batches=COUNT_FROM_1,
        )
        require_one_of(METHODS, method=self.method)
        require_one_of(tuple(CONVENTIONS), convention=self.convention)
        require_one_of(RECOMPUTATIONS, recomputation=self.recomputation)
        require_one_of(("bf16", "fp16", "fp32"), precision=self.precision)
        if (self.convention == "fp32_adam") != (self.precision == "fp32"):
            refuse("precision", repr(self.precision), "fp32 with the convention fp32_adam, and only with it")
        if (self.method == "full") != (self.adapter_parameters == 0.0):
            refuse("adapter_parameters", self.adapter_parameters, "above 0 for lora and qlora, 0 for full")

    @property
    def computes_in(self) -> tuple[Precision, ...]:
        """Return the precisions of which the GPU needs one."""
        return COMPUTES_IN[self.precision]


@dataclass(frozen=True)
class Serving:
    """One replica: `concurrency` sequences in flight, each of `context_tokens`, prompt and answer."""

    context_tokens: int
    concurrency: int = 1
    precision: Precision = "bf16"
    kv_precision: Precision = "bf16"

    def __post_init__(self) -> None:
        """Refuse impossible jobs."""
        require_fields(self, context_tokens=SIZE, concurrency=SIZE)
        require_one_of(PRECISIONS, precision=self.precision, kv_precision=self.kv_precision)

    @property
    def computes_in(self) -> tuple[Precision, ...]:
        """Return the precisions of which the GPU needs one."""
        return COMPUTES_IN[self.precision]


Job = Training | Serving
