"""Models, GPUs and generated cases for the tests of memory fit."""

from hypothesis import strategies as st

from planner.core.fit.jobs import ModelShape, Serving, Training
from planner.core.fit.layouts import Layout
from planner.core.fit.states import CONVENTIONS
from planner.core.fit.verdict import Gpu

GB = 10**9
GIB = 2**30
LLAMA_70B = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
LLAMA_405B = ModelShape("405B", 405e9, 126, 16384, 128, 8, 128, 128256)
SMALL = ModelShape("7B", 7e9, 32, 4096, 32, 32, 128, 32000)
H100 = Gpu("H100", 80e9, frozenset({"fp32", "bf16", "fp16", "fp8", "int8"}), nvlink_gpus=8)
GB200 = Gpu("GB200", 186e9, frozenset({"fp32", "bf16", "fp16", "fp8", "fp4"}), nvlink_gpus=72)
L40S = Gpu("L40S", 48e9, frozenset({"fp32", "bf16", "fp16", "fp8", "int8"}), nvlink_gpus=1)
V100 = Gpu("V100", 32e9, frozenset({"fp32", "fp16"}), nvlink_gpus=8)

shapes = st.builds(
    lambda parameters, layers, kv_heads, group, vocabulary: ModelShape(
        "any", parameters, layers, kv_heads * group * 128, kv_heads * group, kv_heads, 128, vocabulary
    ),
    st.floats(1e8, 1e12),
    st.integers(1, 130),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1_000, 300_000),
)


@st.composite
def trainings(draw: st.DrawFn) -> Training:
    method = draw(st.sampled_from(["full", "lora", "qlora"]))
    convention = draw(st.sampled_from(sorted(CONVENTIONS)))
    return Training(
        sequence=draw(st.integers(1, 100_000)),
        micro_batch=draw(st.integers(1, 8)),
        method=method,
        convention=convention,
        precision="fp32" if convention == "fp32_adam" else "bf16",
        adapter_parameters=0.0 if method == "full" else draw(st.floats(1e6, 1e9)),
        recomputation=draw(st.sampled_from(["none", "selective", "full"])),
        flash_attention=draw(st.booleans()),
        sequence_parallel=draw(st.booleans()),
        micro_batches=draw(st.integers(1, 64)),
    )


servings = st.builds(
    Serving,
    context_tokens=st.integers(1, 200_000),
    concurrency=st.integers(1, 512),
    precision=st.sampled_from(["bf16", "fp8", "int4"]),
    kv_precision=st.sampled_from(["bf16", "fp8"]),
)
training_layouts = st.builds(
    lambda data, tensor, pipeline, stage: Layout(data, tensor, pipeline, stage if data > 1 else 0),
    st.integers(1, 64),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 16),
    st.integers(0, 3),
)
serving_layouts = st.builds(Layout, tensor=st.sampled_from([1, 2, 4, 8]), pipeline=st.integers(1, 16))
asked = st.tuples(trainings(), training_layouts) | st.tuples(servings, serving_layouts)
