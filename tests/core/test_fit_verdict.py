"""Need against usable memory, and the reason of each refusal."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.core.fit.jobs import ModelShape, Serving, Training
from planner.core.fit.layouts import Layout, every_parallelism, layouts, why_not_split
from planner.core.fit.need import Need, Term, most_sequences, need, piece_share, serving_sequence_bytes
from planner.core.fit.verdict import WORDS, Gpu, Reserve, judge, usable_bytes, verdict
from tests.core.fit_cases import (
    GIB,
    H100,
    L40S,
    LLAMA_70B,
    LLAMA_405B,
    SMALL,
    V100,
    asked,
    serving_layouts,
    servings,
    shapes,
)

quick = settings(max_examples=50, deadline=None)
CHAT = Serving(context_tokens=8192, concurrency=16)


def terms(found: Need) -> dict[str, float]:
    return {term.name: term.size_bytes for term in found.terms}


def test_usable_memory_leaves_out_context_buffers_and_fragments() -> None:
    assert usable_bytes(80 * GIB, 8) == pytest.approx((80 - 1 - 1.5) * GIB * 0.92)
    assert usable_bytes(80 * GIB, 1) == pytest.approx(79 * GIB * 0.92)  # nothing to send to
    assert usable_bytes(1 * GIB, 8) == 0.0
    assert usable_bytes(80 * GIB, 8, Reserve(0.0, 0.0, 1.0)) == 80 * GIB


def test_80_gb_is_not_80_gib() -> None:
    # 8 % of a verdict hangs on it: the same GPU by decimal and by binary units
    assert usable_bytes(80 * GIB, 8) / usable_bytes(80e9, 8) == pytest.approx(1.0763, abs=1e-4)


def test_full_training_on_one_gpu_by_hand() -> None:
    # 7B: 14 + 14 + 84 GB of states; 34 * s * h * 32 layers; 4 * s * V
    found = terms(need(SMALL, Training(sequence=4096), Layout()))
    assert found == {
        "weights": 14e9,
        "gradients": 14e9,
        "optimizer": 84e9,
        "activations": 34 * 4096 * 4096 * 32,
        "logits": 4 * 4096 * 32000,
    }


def test_scores_come_back_without_flash_attention_unless_attention_is_recomputed() -> None:
    plain, flash, selective, full = (
        terms(need(SMALL, Training(sequence=4096, flash_attention=f, recomputation=r), Layout()))[
            "activations"
        ]
        for f, r in ((False, "none"), (True, "none"), (False, "selective"), (True, "full"))
    )
    unit = 4096 * 4096 * 32
    assert (plain, flash, selective, full) == ((34 + 160) * unit, 34 * unit, 34 * unit, 2 * unit)


def test_tensor_parallel_without_sequence_parallel_keeps_10_bytes_whole() -> None:
    job = Training(sequence=4096, sequence_parallel=False)
    kept = terms(need(SMALL, job, Layout(tensor=8)))["activations"]
    assert kept == (10 + 24 / 8) * 4096 * 4096 * 32
    assert terms(need(SMALL, job, Layout()))["activations"] == 34 * 4096 * 4096 * 32


def test_fp32_training_keeps_twice_the_activations() -> None:
    half, full = (
        terms(need(SMALL, Training(sequence=512, convention=name, precision=precision), Layout()))
        for name, precision in (("mixed_precision_adam", "bf16"), ("fp32_adam", "fp32"))
    )
    assert full["activations"] == 2 * half["activations"]
    assert full["weights"] == 2 * half["weights"]


def test_adapters_train_little_and_hold_all_weights() -> None:
    lora = Training(sequence=512, method="lora", adapter_parameters=1e8)
    found = terms(need(LLAMA_70B, lora, Layout()))
    assert (found["frozen weights"], found["adapter states"]) == (140e9, 1.6e9)
    shared = terms(need(LLAMA_70B, lora, Layout(data=8, zero_stage=3)))
    assert (shared["frozen weights"], shared["adapter states"]) == (17.5e9, 0.2e9)
    stage_2 = terms(need(LLAMA_70B, lora, Layout(data=8, zero_stage=2)))
    assert stage_2["frozen weights"] == 140e9  # frozen weights have no gradients to share
    qlora = terms(need(LLAMA_70B, replace(lora, method="qlora"), Layout()))
    assert qlora["frozen weights"] == pytest.approx(70e9 * 4.127 / 8)


def test_qlora_of_65b_fits_one_gpu_of_48_gb() -> None:
    # Dettmers et al. 2023: 65B on one 48 GB GPU, sequence 512, batch 1, with gradient checkpointing
    shape = ModelShape("65B", 65e9, 80, 8192, 64, 64, 128, 32000)
    job = Training(
        sequence=512, method="qlora", adapter_parameters=2e8, recomputation="full", precision="bf16"
    )
    assert verdict(L40S, shape, job, Layout()).holds
    full = Training(sequence=512, convention="16_bit_fine_tuning", recomputation="full")
    assert verdict(L40S, shape, full, Layout()).word == "does not fit"


def test_serving_by_hand() -> None:
    # 70B in bf16 over 8 GPUs: 17.5 GB; a token takes 327,680 / 8 bytes on each; 4 * V / 8 for its logits
    found = terms(need(LLAMA_70B, CHAT, Layout(tensor=8)))
    assert found == {"weights": 17.5e9, "KV cache": 16 * 8192 * 40_960, "logits": 16 * 64_128}


def test_more_gpus_than_kv_heads_hold_copies_of_them() -> None:
    eight, sixteen = (serving_sequence_bytes(LLAMA_70B, CHAT, Layout(tensor=t)).cache for t in (8, 16))
    assert sixteen == eight


def test_an_uneven_pipeline_is_as_full_as_its_fullest_stage() -> None:
    assert piece_share(LLAMA_405B, Layout(pipeline=16)) == 8 / 126
    assert piece_share(LLAMA_405B, Layout(tensor=8, pipeline=2)) == 1 / 16


def test_sequences_that_fit_are_the_last_that_hold() -> None:
    layout = Layout(tensor=4)
    usable = usable_bytes(H100.memory_bytes, 4)
    most = most_sequences(usable, LLAMA_70B, CHAT, layout)
    assert verdict(H100, LLAMA_70B, replace(CHAT, concurrency=most), layout).holds
    assert not verdict(H100, LLAMA_70B, replace(CHAT, concurrency=most + 1), layout).holds
    assert most_sequences(10e9, LLAMA_70B, CHAT, layout) == 0


def test_verdict_names_need_largest_term_and_margin() -> None:
    found = verdict(H100, LLAMA_70B, CHAT, Layout(tensor=8))
    assert (found.word, found.gpus, found.largest.name) == ("fits", 8, "weights")
    assert found.reasons == ()
    assert found.margin_share == pytest.approx(1 - found.need.total_bytes / found.usable_bytes)


@pytest.mark.parametrize(
    ("share", "word"),
    [(0.5, "fits"), (0.899, "fits"), (0.901, "tight"), (1.0, "tight"), (1.001, "does not fit")],
)
def test_tight_is_less_than_10_percent_of_usable(share: float, word: str) -> None:
    gpu = replace(H100, memory_bytes=100 * GIB)
    usable = usable_bytes(100 * GIB, 2)
    found = judge(gpu, LLAMA_70B, CHAT, Layout(tensor=2), Need((Term("weights", share * usable),)))
    assert found.word == word
    assert [reason.kind for reason in found.reasons] == ([] if word == "fits" else ["memory"])


def test_memory_is_refused_with_the_largest_term() -> None:
    found = verdict(H100, SMALL, Training(sequence=4096), Layout())
    assert found.word == "does not fit"
    assert found.text().startswith("needs 121.8 of 67.6 usable GiB per GPU, most for optimizer (78.2 GiB)")
    assert found.lacking_bytes == pytest.approx(found.need.total_bytes - found.usable_bytes)


@pytest.mark.parametrize(
    ("job", "text"),
    [
        (Serving(1024, precision="bf16"), "V100 does not compute in bf16"),
        (Serving(1024, precision="fp8"), "V100 does not compute in fp8"),
        (Training(512), "V100 does not compute in bf16"),
        (Serving(1024, precision="int4"), ""),  # four bits are turned into fp16 first
        (Serving(1024, precision="fp16"), ""),
    ],
)
def test_a_gpu_without_the_precision_is_refused(job, text: str) -> None:
    roomy = replace(V100, memory_bytes=1e12)
    assert verdict(roomy, SMALL, job, Layout()).text() == text


@pytest.mark.parametrize(
    ("gpu", "tensor", "text"),
    [
        (H100, 16, "tensor parallel over 16 GPUs, but fast links join 8 of H100"),
        (L40S, 8, "tensor parallel over 8 GPUs, but L40S has no NVLink or its like"),
        (H100, 8, ""),
    ],
)
def test_tensor_parallel_stays_inside_fast_links(gpu: Gpu, tensor: int, text: str) -> None:
    found = verdict(gpu, LLAMA_70B, replace(CHAT, concurrency=1), Layout(tensor=tensor))
    assert found.text() == text
    assert [reason.kind for reason in found.refusals] == (["interconnect"] if text else [])


def test_a_pipeline_and_zero_need_no_fast_links() -> None:
    assert verdict(L40S, LLAMA_70B, replace(CHAT, concurrency=1), Layout(pipeline=8)).word == "fits"
    job = Training(sequence=2048, recomputation="full")
    assert verdict(L40S, SMALL, job, Layout(data=16, zero_stage=3)).word == "fits"


def test_heads_and_layers_must_be_enough_to_split() -> None:
    assert why_not_split(Layout(tensor=3), LLAMA_70B) == "64 heads do not divide over 3 GPUs"
    shape = replace(LLAMA_70B, heads=96, kv_heads=8)
    assert why_not_split(Layout(tensor=6), shape) == "8 KV heads do not divide over 6 GPUs"
    assert why_not_split(Layout(tensor=32), LLAMA_70B) is None  # four copies of each KV head
    assert why_not_split(Layout(pipeline=81), LLAMA_70B) == "80 layers are fewer than 81 pipeline stages"
    assert verdict(H100, LLAMA_70B, CHAT, Layout(tensor=3)).refusals[-1].kind == "split"


def test_every_reason_is_listed() -> None:
    found = verdict(replace(V100, memory_bytes=16e9), LLAMA_70B, CHAT, Layout(tensor=6))
    assert [reason.kind for reason in found.refusals] == ["memory", "precision", "split"]
    assert found.text().count(";") == 2


def test_what_is_not_known_is_unknown_and_never_fits() -> None:
    small = replace(CHAT, concurrency=1)
    for gpu, text in (
        (replace(H100, memory_bytes=None), "the memory of H100 is not known"),
        (replace(H100, nvlink_gpus=None), "how many GPUs of H100 fast links join is not known"),
        (
            replace(H100, precisions=frozenset(), unknown_precisions=frozenset({"bf16"})),
            "whether H100 computes in bf16 is not known",
        ),
    ):
        found = verdict(gpu, LLAMA_70B, small, Layout(tensor=8))
        assert (found.word, found.text(), found.holds) == ("unknown", text, False)
    blank = verdict(replace(H100, memory_bytes=None), LLAMA_70B, small, Layout(tensor=8))
    assert (blank.usable_bytes, blank.margin_share, blank.lacking_bytes) == (None, None, 0.0)


def test_a_known_refusal_outweighs_what_is_not_known() -> None:
    gpu = replace(V100, memory_bytes=None)
    assert verdict(gpu, LLAMA_70B, CHAT, Layout(tensor=8)).word == "does not fit"


@quick
@given(shapes, asked, st.integers(1, 8), st.integers(1, 4), st.integers(1, 8))
def test_more_gpus_along_any_axis_never_need_more_each(shape, job_and_layout, data, tensor, pipeline) -> None:
    job, layout = job_and_layout
    few = need(shape, job, layout).total_bytes
    axes = [
        replace(layout, tensor=layout.tensor * tensor),
        replace(layout, pipeline=layout.pipeline + pipeline),
    ]
    if layout.data > 1:
        axes.append(replace(layout, data=layout.data + data))
    for more in axes:
        assert need(shape, job, more).total_bytes <= few * (1 + 1e-9)


@quick
@given(shapes, asked, st.floats(1e9, 3e11), st.floats(1.0, 4.0))
def test_more_memory_or_fewer_parameters_never_make_a_verdict_worse(
    shape, job_and_layout, memory, factor
) -> None:
    job, layout = job_and_layout
    gpu = replace(H100, memory_bytes=memory)
    rank = WORDS.index(verdict(gpu, shape, job, layout).word)
    assert WORDS.index(verdict(replace(gpu, memory_bytes=memory * factor), shape, job, layout).word) <= rank
    smaller = replace(shape, parameters=shape.parameters / factor)
    assert WORDS.index(verdict(gpu, smaller, job, layout).word) <= rank


@quick
@given(shapes, servings, serving_layouts, st.integers(1, 5))
def test_more_concurrency_never_makes_a_verdict_better(shape, job, layout, factor) -> None:
    busier = replace(job, concurrency=job.concurrency * factor)
    words = [WORDS.index(verdict(H100, shape, each, layout).word) for each in (job, busier)]
    assert words[0] <= words[1]


@quick
@given(shapes, asked)
def test_terms_add_up_and_the_largest_is_one_of_them(shape, job_and_layout) -> None:
    found = need(shape, *job_and_layout)
    assert found.total_bytes == pytest.approx(sum(terms(found).values()))
    assert found.largest.size_bytes == max(terms(found).values())


@quick
@given(st.integers(1, 200), st.sampled_from([1, 4, 8, 72, None]), shapes)
def test_layouts_use_exactly_the_gpus_asked_for(gpus: int, domain: int | None, shape) -> None:
    for way in every_parallelism(Training(512)):
        found = layouts(way, gpus, shape, domain)
        assert found or way == "tensor_pipeline_zero1"
        assert all(layout.gpus == gpus for layout in found)
        if way.startswith("tensor_pipeline") and gpus > 1:
            assert all(layout.tensor <= (domain or 1) for layout in found)


@quick
@given(shapes, st.integers(2, 64))
def test_zero_stages_never_need_more_than_copies(shape, gpus: int) -> None:
    assume(shape.parameters > 0)
    job = Training(sequence=2048)
    stages = [Layout(data=gpus), *(Layout(data=gpus, zero_stage=stage) for stage in (1, 2, 3))]
    sizes = [need(shape, job, layout).total_bytes for layout in stages]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == need(shape, job, Layout()).total_bytes


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: replace(LLAMA_70B, parameters=-1.0), "parameters is -1"),
        (lambda: replace(LLAMA_70B, kv_heads=5), "kv_heads is 5; right would be a divisor of heads, 64"),
        (lambda: replace(LLAMA_70B, layers=0), "layers is 0"),
        (lambda: Training(sequence=0), "sequence is 0"),
        (lambda: Training(512, method="dora"), "method is 'dora'"),
        (lambda: Training(512, recomputation="some"), "recomputation is 'some'"),
        (lambda: Training(512, convention="sgd"), "convention is 'sgd'"),
        (lambda: Training(512, precision="fp8"), "precision is 'fp8'"),
        (lambda: Training(512, precision="fp32"), "precision is 'fp32'"),
        (lambda: Training(512, convention="fp32_adam"), "precision is 'bf16'"),
        (lambda: Training(512, method="lora"), "adapter_parameters is 0.0"),
        (lambda: Training(512, adapter_parameters=1e6), "adapter_parameters is 1000000"),
        (lambda: Serving(context_tokens=-1), "context_tokens is -1"),
        (lambda: Serving(1, concurrency=0), "concurrency is 0"),
        (lambda: Serving(1, kv_precision="fp6"), "kv_precision is 'fp6'"),
        (lambda: Layout(data=0), "data is 0"),
        (lambda: Layout(zero_stage=3), "zero_stage is 3; right would be 0 where data is 1"),
        (lambda: layouts("magic", 8, SMALL, 8), "parallelism is 'magic'"),
        (lambda: need(SMALL, CHAT, Layout(data=2)), "layout is 2 copies"),
        (lambda: replace(H100, memory_bytes=0.0), "memory_bytes is 0"),
        (lambda: replace(H100, memory_bytes=float("nan")), "memory_bytes is nan"),
        (lambda: replace(H100, nvlink_gpus=0), "nvlink_gpus is 0"),
        (lambda: replace(H100, precisions=frozenset({"fp7"})), "precisions is 'fp7'"),
        (lambda: replace(H100, peak_dense_tflops={"bf16": -1.0}), "peak_dense_tflops of bf16 is -1"),
        (lambda: Reserve(factor=1.2), "factor is 1.2"),
        (lambda: Reserve(context_bytes=-1.0), "context_bytes is -1"),
        (lambda: usable_bytes(80e9, 0), "gpus is 0"),
    ],
)
def test_impossible_values_are_refused(call, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}"):
        call()


def test_absurd_needs_do_not_fit_rather_than_break() -> None:
    job = Training(sequence=10_000_000, micro_batch=1_000_000, flash_attention=False)
    assert verdict(H100, LLAMA_405B, job, Layout()).word == "does not fit"
