"""The smallest counts, and the rows of a sizing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.fit.jobs import Serving, Training
from planner.core.fit.layouts import STAGE, Layout, layouts, parallelisms, why_not_split
from planner.core.fit.sizing import size
from planner.core.fit.smallest import smallest_fit, smallest_fits
from planner.core.fit.verdict import Gpu, verdict
from tests.core.fit_cases import (
    GB200,
    H100,
    L40S,
    LLAMA_70B,
    LLAMA_405B,
    SMALL,
    V100,
    servings,
    shapes,
    trainings,
)

quick = settings(max_examples=50, deadline=None)
TRAIN = Training(sequence=4096, recomputation="full")
CHAT = Serving(context_tokens=8192, concurrency=32)


def first_by_trying_all(gpu, model, job, way, most: int) -> int | None:
    """Return the smallest count that holds the job, by trying every layout of every count."""
    for count in range(1, most + 1):
        found = (
            layouts(way, count, model, gpu.nvlink_gpus)
            if way in STAGE or way == "tensor" or count == 1
            else [
                Layout(tensor=t, pipeline=count // t)
                for t in range(1, count + 1)
                if count % t == 0 and why_not_split(Layout(tensor=t), model) is None
            ]
        )
        if any(verdict(gpu, model, job, layout).holds for layout in found):
            return count
    return None


@quick
@given(
    shapes,
    trainings() | servings,
    st.sampled_from([H100, GB200, L40S, V100]),
    st.floats(4e9, 3e11),
    st.data(),
)
def test_the_smallest_count_is_that_of_trying_all(shape, job, gpu, memory, data) -> None:
    gpu = replace(gpu, memory_bytes=memory, precisions=frozenset({"fp32", "bf16", "fp8"}))
    way = data.draw(st.sampled_from(parallelisms(job)))
    most = data.draw(st.integers(1, 40))
    assert smallest_fit(gpu, shape, job, way, most).gpus == first_by_trying_all(gpu, shape, job, way, most)


def test_smallest_counts_of_training_7b_on_h100() -> None:
    # usable 72.61 GB alone, 71.13 GB of two and more. Beside the states 1.60 GB are kept:
    # 2 * 4096 * 4096 * 32 = 1.07 and 4 * 4096 * 32000 = 0.52. Stage 1: 28 + 84 / N, stage 2: 14 + 98 / N,
    # stage 3: 112 / N GB: N = 3, 2, 2. Tensor 2: 56 GB and less.
    found = {row.parallelism: row.gpus for row in smallest_fits([H100], SMALL, TRAIN)}
    assert found == {"copies": None, "zero1": 3, "zero2": 2, "zero3": 2, "tensor": 2, "tensor_pipeline": 2}


def test_a_margin_takes_more_gpus_than_a_tight_fit() -> None:
    tight = smallest_fit(H100, LLAMA_70B, replace(CHAT, context_tokens=4096, concurrency=1), "tensor")
    roomy = smallest_fit(
        H100, LLAMA_70B, replace(CHAT, context_tokens=4096, concurrency=1), "tensor", with_margin=True
    )
    assert (tight.gpus, tight.verdict.word) == (2, "tight")
    assert (roomy.gpus, roomy.verdict.word) == (4, "fits")


def test_405b_does_not_go_on_one_node_in_bf16_and_the_links_are_named() -> None:
    one = Serving(context_tokens=8192)
    found = smallest_fit(H100, LLAMA_405B, one, "tensor")  # 810 GB on 8 x 71 GB
    assert found.gpus is None
    assert found.verdict.text() == "tensor parallel over 16 GPUs, but fast links join 8 of H100"
    assert smallest_fit(H100, LLAMA_405B, one, "tensor_pipeline").gpus == 12  # 4 x 3, 67.5 GB of weights
    assert smallest_fit(H100, LLAMA_405B, replace(one, precision="fp8"), "tensor").gpus == 8
    assert smallest_fit(GB200, LLAMA_405B, one, "tensor").gpus == 8


def test_a_gpu_without_links_goes_by_pipeline() -> None:
    found = {row.parallelism: row.gpus for row in smallest_fits([L40S], LLAMA_70B, Serving(8192))}
    assert found["tensor"] is None
    assert found["tensor_pipeline"] == 4  # 140 GB over 20 layers each, 35 of 41.8 GB


def test_no_count_helps_a_gpu_without_the_precision() -> None:
    for row in smallest_fits([V100], LLAMA_70B, TRAIN):
        assert row.gpus is None
        assert "V100 does not compute in bf16" in row.verdict.text()


def test_unknown_memory_stays_unknown() -> None:
    blank = Gpu("new", None, frozenset({"bf16"}), nvlink_gpus=8)
    assert {row.verdict.word for row in smallest_fits([blank], SMALL, TRAIN)} == {"unknown"}
    assert all(row.gpus is None for row in smallest_fits([blank], SMALL, TRAIN))


def test_rows_of_every_gpu_and_count_stay_listed() -> None:
    sizing = size(LLAMA_70B, CHAT, [H100, V100, L40S], (1, 2, 4, 8))
    assert [(row.gpu, row.gpus) for row in sizing.rows] == [
        (gpu, count) for gpu in ("H100", "V100", "L40S") for count in (1, 2, 4, 8)
    ]
    assert all(row.verdict.text() for row in sizing.rows if row.verdict.word != "fits")


def test_best_count_is_the_smallest_that_fits() -> None:
    # 140 GB of weights and 85.9 GB of keys and values: 56.5 GB on each of four
    sizing = size(LLAMA_70B, CHAT, [H100, V100], (1, 2, 4, 8))
    assert [row.verdict.word for row in sizing.rows[:4]] == ["does not fit", "does not fit", "fits", "fits"]
    assert sizing.best("H100").gpus == 4
    assert sizing.best("V100") is None
    assert [row.is_best for row in sizing.rows] == [False, False, True, False, False, False, False, False]


def test_a_tight_count_is_best_only_where_none_fits() -> None:
    job = replace(CHAT, context_tokens=4096, concurrency=1)
    assert size(LLAMA_70B, job, [H100], (1, 2)).best("H100").gpus == 2
    assert size(LLAMA_70B, job, [H100], (1, 2, 4)).best("H100").gpus == 4


def test_what_sends_least_is_taken_where_several_fit() -> None:
    tiny = replace(SMALL, parameters=1e9)
    row = size(tiny, TRAIN, [H100], (8,)).rows[0]
    assert (row.parallelism, row.verdict.layout.text()) == ("copies", "8 copies")
    row = size(SMALL, TRAIN, [H100], (8,)).rows[0]
    assert (row.parallelism, row.verdict.layout.text()) == ("zero1", "ZeRO-1 over 8")
    assert len({way.verdict.layout for way in row.ways}) == len(row.ways)
    assert len(size(SMALL, TRAIN, [H100], (1,)).rows[0].ways) == 1  # one GPU is one layout


def test_a_refused_row_shows_what_came_nearest() -> None:
    row = size(LLAMA_405B, TRAIN, [H100], (8,)).rows[0]
    assert row.verdict.word == "does not fit"
    assert row.verdict.need.total_bytes == min(way.verdict.need.total_bytes for way in row.ways)
    assert all(way.verdict.refusals for way in row.ways)


def test_what_only_lacks_memory_is_nearer_than_what_the_links_forbid() -> None:
    row = size(LLAMA_405B, Training(sequence=8192), [H100], (128,)).rows[0]
    assert [reason.kind for reason in row.verdict.refusals] == ["memory"]
    tensor = next(way for way in row.ways if way.parallelism == "tensor")
    assert tensor.verdict.text() == "tensor parallel over 128 GPUs, but fast links join 8 of H100"
    assert (
        "tensor 128: tensor parallel over 128 GPUs"
        in size(LLAMA_405B, Training(sequence=8192), [H100], (128,)).frame().loc[0, "other_refusals"]
    )


@quick
@given(shapes, trainings() | servings)
def test_a_row_is_never_worse_than_any_of_its_layouts(shape, job) -> None:
    words = ("fits", "tight", "unknown", "does not fit")
    for row in size(shape, job, [H100, L40S], (1, 2, 8, 16)).rows:
        assert all(words.index(row.verdict.word) <= words.index(way.verdict.word) for way in row.ways)


@quick
@given(shapes, trainings())
def test_from_two_gpus_on_twice_as_many_never_turn_a_verdict_worse(shape, job) -> None:
    # each layout of N is one of 2 N too, with the rest as copies that share the optimizer
    words = [row.verdict.holds for row in size(shape, job, [H100], (2, 4, 8, 16, 32, 64)).rows]
    assert words == sorted(words)


def test_large_runs_take_three_axes() -> None:
    # copies of a long sequence are too large for one GPU, and 32 layers too few for a pipeline of 512
    job = Training(sequence=65_536)
    row = size(SMALL, job, [H100], (512,)).rows[0]
    assert (row.parallelism, row.verdict.word) == ("tensor_pipeline_zero1", "fits")
    assert row.verdict.layout.text() == "ZeRO-1 over 64 × tensor 8"
    assert row.verdict.gpus == 512


def test_frame_has_a_line_per_row_and_nan_for_the_unknown() -> None:
    blank = replace(H100, name="new", memory_bytes=None)
    frame = size(LLAMA_70B, CHAT, [H100, blank], (4, 8)).frame()
    assert frame["verdict"].tolist() == ["fits", "fits", "unknown", "unknown"]
    assert frame.loc[0, "need_gib"] == pytest.approx((35e9 + 32 * (8192 * 81_920 + 128_256)) / 2**30)
    assert frame.loc[0, "most_sequences"] == 53  # (71.13 - 35) GB / (8192 * 81,920 + 128,256)
    assert frame["usable_gib"].isna().tolist() == [False, False, True, True]
    assert frame.loc[2, "reason"] == "the memory of new is not known"
    assert "most_sequences" not in size(SMALL, TRAIN, [H100], (8,)).frame().columns


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: smallest_fit(H100, SMALL, TRAIN, "tensor", most_gpus=0), "most_gpus is 0"),
        (lambda: smallest_fit(H100, SMALL, CHAT, "zero3"), "parallelism is 'zero3'"),
        (lambda: size(SMALL, TRAIN, [H100, H100]), "gpus is"),
        (lambda: size(SMALL, TRAIN, [H100], (4, 2)), "counts is"),
        (lambda: size(SMALL, TRAIN, [H100], (0, 2)), "counts is"),
    ],
)
def test_impossible_values_are_refused(call, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
