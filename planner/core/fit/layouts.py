"""How one model is spread over GPUs: copies, ZeRO, tensor parallel, pipeline."""

from dataclasses import dataclass
from typing import Literal

from planner.core.fit.jobs import Job, ModelShape, Serving
from planner.core.fit.states import ZERO_STAGE
from planner.core.ranges import COUNT_FROM_1, optional, refuse, require_fields, require_one_of, takes

Parallelism = Literal[
    "copies", "zero1", "zero2", "zero3", "tensor", "tensor_pipeline", "tensor_pipeline_zero1"
]
# In the order of preference where two serve equally: less to send comes first.
TRAINING: tuple[Parallelism, ...] = ("copies", "zero1", "zero2", "zero3", "tensor", "tensor_pipeline")
SERVING: tuple[Parallelism, ...] = ("tensor", "tensor_pipeline")
ALL: tuple[Parallelism, ...] = (*TRAINING, "tensor_pipeline_zero1")
STAGE: dict[Parallelism, int] = {"copies": 0, "zero1": 1, "zero2": 2, "zero3": 3}


@dataclass(frozen=True)
class Layout:
    """`data` GPUs share states by the ZeRO stage; each of those places is `tensor` x `pipeline` GPUs.

    Raises ValueError for a ZeRO stage without a second GPU to share with.
    """

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    zero_stage: int = 0

    def __post_init__(self) -> None:
        """Refuse impossible layouts."""
        require_fields(
            self, data=COUNT_FROM_1, tensor=COUNT_FROM_1, pipeline=COUNT_FROM_1, zero_stage=ZERO_STAGE
        )
        if self.zero_stage and self.data == 1:
            refuse("zero_stage", self.zero_stage, "0 where data is 1")

    @property
    def gpus(self) -> int:
        """Return data * tensor * pipeline."""
        return self.data * self.tensor * self.pipeline

    def text(self) -> str:
        """Return the layout in words."""
        parts = []
        if self.data > 1:
            parts.append(
                f"ZeRO-{self.zero_stage} over {self.data}" if self.zero_stage else f"{self.data} copies"
            )
        if self.tensor > 1:
            parts.append(f"tensor {self.tensor}")
        if self.pipeline > 1:
            parts.append(f"pipeline {self.pipeline}")
        return " × ".join(parts) or "one GPU"


def parallelisms(job: Job) -> tuple[Parallelism, ...]:
    """Return the ways along one axis, or two, in which a job may be spread; serving has no states to share.

    >>> parallelisms(Serving(context_tokens=8192))
    ('tensor', 'tensor_pipeline')
    """
    return SERVING if isinstance(job, Serving) else TRAINING


def every_parallelism(job: Job) -> tuple[Parallelism, ...]:
    """Return the ways of `parallelisms` and the one along three axes, which large training runs take.

    >>> every_parallelism(Serving(context_tokens=8192))
    ('tensor', 'tensor_pipeline')
    """
    return SERVING if isinstance(job, Serving) else ALL


@takes(gpus=COUNT_FROM_1, fast_domain_gpus=optional(COUNT_FROM_1))
def layouts(
    parallelism: Parallelism, gpus: int, model: ModelShape, fast_domain_gpus: int | None
) -> tuple[Layout, ...]:
    """Return the layouts of exactly `gpus` GPUs; tensor with pipeline has several, or one that cannot work.

    copies, zero1 to zero3: data = N. tensor: t = N. tensor_pipeline: every t * p = N with t in one fast
    domain (1 where that is not known), t a divisor of the heads and p at most the layers, the largest t
    first; where there is none, the one with the largest t, which a verdict then refuses.
    tensor_pipeline_zero1: the same with d * t * p = N and d > 1, the optimizer shared by ZeRO-1; maybe none.
    One GPU has one layout.

    >>> shape = ModelShape("70B", 70.6e9, 80, 8192, 64, 8, 128, 128256)
    >>> [layout.text() for layout in layouts("tensor_pipeline", 16, shape, 8)]
    ['tensor 8 × pipeline 2', 'tensor 4 × pipeline 4', 'tensor 2 × pipeline 8', 'pipeline 16']
    """
    require_one_of(ALL, parallelism=parallelism)
    if gpus == 1:
        return (Layout(),)
    if parallelism == "tensor":
        return (Layout(tensor=gpus),)
    if parallelism == "tensor_pipeline":
        return _tensor_pipeline(gpus, model, fast_domain_gpus or 1)
    if parallelism == "tensor_pipeline_zero1":
        return _three_axes(gpus, model, fast_domain_gpus or 1)
    return (Layout(data=gpus, zero_stage=STAGE[parallelism]),)


def _tensor_pipeline(gpus: int, model: ModelShape, fast_domain_gpus: int) -> tuple[Layout, ...]:
    degrees = [t for t in range(min(gpus, fast_domain_gpus), 0, -1) if gpus % t == 0]
    every = [Layout(tensor=t, pipeline=gpus // t) for t in degrees]
    return tuple(layout for layout in every if why_not_split(layout, model) is None) or (every[0],)


def _three_axes(gpus: int, model: ModelShape, fast_domain_gpus: int) -> tuple[Layout, ...]:
    return tuple(
        Layout(data=gpus // places, tensor=each.tensor, pipeline=each.pipeline, zero_stage=1)
        for places in range(2, gpus // 2 + 1)
        if gpus % places == 0
        for each in _tensor_pipeline(places, model, fast_domain_gpus)
        if why_not_split(each, model) is None
    )


def why_not_split(layout: Layout, model: ModelShape) -> str | None:
    """Return why a model does not divide so, or None where it does.

    Tensor parallel wants whole heads, and whole KV heads or whole copies of them; a pipeline a layer for each
    stage. Stages may be uneven, as those of the 126 layers of Llama 3 405B are.

    >>> shape = ModelShape("70B", 70.6e9, 80, 8192, 64, 8, 128, 128256)
    >>> why_not_split(Layout(tensor=6), shape)
    '64 heads do not divide over 6 GPUs'
    """
    tensor, pipeline = layout.tensor, layout.pipeline
    if model.heads % tensor:
        return f"{model.heads} heads do not divide over {tensor} GPUs"
    if model.kv_heads % tensor and tensor % model.kv_heads:
        return f"{model.kv_heads} KV heads do not divide over {tensor} GPUs"
    if pipeline > model.layers:
        return f"{model.layers} layers are fewer than {pipeline} pipeline stages"
    return None
