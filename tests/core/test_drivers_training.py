"""Work, speed and GPU-hours of training."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.drivers.assumptions import EXPERIMENTS, MFU_LARGE, RESTARTS, Assumption
from planner.core.drivers.fine_tuning import fine_tuning_work
from planner.core.drivers.flops import (
    Attention,
    Speed,
    Work,
    petaflop_s_days,
    speed_from_hfu,
    speed_from_mfu,
    training_flops_per_token,
    training_work,
)
from planner.core.drivers.programme import (
    programme_gpu_hours,
    retraining_gpu_hours_per_month,
    runs_gpu_hours_per_month,
    runs_within,
    sweep_gpu_hours,
)
from planner.core.drivers.training import days_on, gpu_hours, gpus_to_finish_in, measured_utilization
from planner.core.drivers.transformer import (
    Gpt2Shape,
    forward_flops_per_sequence,
    parameter_count,
    training_flops_per_sequence,
)

PALM = Attention(layers=118, heads=48, head_dim=256, sequence=2048)
PALM_PARAMETERS = 540.35e9
GPT_2 = Gpt2Shape(layers=12, heads=12, d_model=768, block_size=1024, vocab=50257)
QUICK = settings(max_examples=50, deadline=None)
PARAMETERS = st.floats(1e6, 1e13)
TOKENS = st.floats(1e6, 1e14)


def test_attention_adds_12_lhqt_to_6n() -> None:
    expected = 6 * PALM_PARAMETERS + 12 * 118 * 48 * 256 * 2048
    assert training_flops_per_token(PALM_PARAMETERS, "model", PALM) == pytest.approx(expected)


def test_recomputation_adds_a_forward_pass_with_its_attention() -> None:
    expected = 8 * PALM_PARAMETERS + 16 * 118 * 48 * 256 * 2048
    assert training_flops_per_token(PALM_PARAMETERS, "hardware", PALM) == pytest.approx(expected)


def test_the_model_counts_no_recomputation_whatever_its_share() -> None:
    shares = [training_work(1e9, 1e9, "model", recomputed_share=share).flops for share in (0.0, 0.5, 1.0)]
    assert shares == [6e18, 6e18, 6e18]
    assert training_work(1e9, 1e9, "hardware", recomputed_share=0.0).flops == 6e18


def test_palms_hfu_lies_between_no_recomputation_and_a_whole_forward_pass() -> None:
    """Chowdhery et al. 2022: MFU 46.2 %, HFU 57.8 %. Their ratio, 1.251, is three quarters of a pass."""

    def hfu(share: float) -> float:
        per_token = training_flops_per_token(PALM_PARAMETERS, "hardware", PALM, share)
        return measured_utilization(238_300, per_token, 6144, 275.0)

    assert hfu(0.0) < 0.578 < hfu(1.0)
    assert hfu(0.753) == pytest.approx(0.578, abs=0.001)


def test_work_and_speed_of_two_conventions_do_not_mix() -> None:
    """6ND at the 140 TFLOP/s of Megatron-LM, which count recomputation, would promise 25 days for 34."""
    model, hardware = training_work(175e9, 300e9, "model"), training_work(175e9, 300e9, "hardware")
    with pytest.raises(ValueError, match=r"speed is counted as hardware; right would be .* as model"):
        gpu_hours(model, Speed(140.0, "hardware"))
    with pytest.raises(ValueError, match=r"speed is counted as model; right would be .* as hardware"):
        gpu_hours(hardware, speed_from_mfu(312.0, 0.45))
    right = days_on(gpu_hours(hardware, Speed(140.0, "hardware")), 1024)
    wrong = days_on(gpu_hours(model, Speed(140.0, "model")), 1024)
    assert right / wrong == pytest.approx(4 / 3)
    assert right == pytest.approx(33.9, abs=0.05)


@QUICK
@given(PARAMETERS, TOKENS, st.floats(0.05, 0.7))
def test_both_conventions_give_the_same_hours_for_the_same_machine(
    parameters: float, tokens: float, mfu: float
) -> None:
    """A machine at MFU m that computes all activations again executes 4/3 m of its peak."""
    by_model = gpu_hours(training_work(parameters, tokens, "model"), speed_from_mfu(989.0, mfu))
    by_hardware = gpu_hours(training_work(parameters, tokens, "hardware"), speed_from_hfu(989.0, mfu * 4 / 3))
    assert by_model == pytest.approx(by_hardware)


def test_llama_3_405b_took_the_hours_of_an_average_mfu_of_35_percent() -> None:
    """Llama 3 paper and model card: 3.8e25 FLOPs, 30.84 M H100 hours, 38 to 43 % in good steps."""
    average = 3.8e25 / (30.84e6 * 3600 * 989e12)
    assert average == pytest.approx(MFU_LARGE.value, abs=0.005)
    assert gpu_hours(Work(3.8e25, "model"), speed_from_mfu(989.0, average)) == pytest.approx(30.84e6)
    assert gpu_hours(Work(3.8e25, "model"), speed_from_mfu(989.0, 0.41)) < 0.86 * 30.84e6


def test_goodput_divides_the_hours() -> None:
    """3.6e18 FLOPs at 1 TFLOP/s are 1,000 hours; with half of the time lost 2,000 are paid."""
    work, speed = Work(3.6e18, "model"), Speed(1.0, "model")
    assert gpu_hours(work, speed) == pytest.approx(1000.0)
    assert gpu_hours(work, speed, goodput=0.5) == pytest.approx(2000.0)


def test_no_tokens_no_hours() -> None:
    assert gpu_hours(training_work(7e9, 0.0, "model"), speed_from_mfu(989.0, 0.4)) == 0.0


def test_a_petaflop_s_day_is_8_64e19_flops() -> None:
    assert petaflop_s_days(Work(8.64e19, "model")) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("hours", "days", "at_a_time", "gpus"),
    [
        (2400.0, 1.0, 1, 100),
        (2400.0, 1.0, 8, 104),
        (2401.0, 1.0, 1, 101),
        (0.0, 10.0, 8, 0),
        (24.0 * 0.1 * 3, 0.1, 1, 3),
    ],
)
def test_gpus_that_finish_in_time(hours: float, days: float, at_a_time: int, gpus: int) -> None:
    assert gpus_to_finish_in(hours, days, at_a_time) == gpus


@QUICK
@given(st.floats(1.0, 1e8), st.floats(0.5, 400.0), st.sampled_from([1, 4, 8]))
def test_one_step_fewer_gpus_would_be_late(hours: float, days: float, at_a_time: int) -> None:
    gpus = gpus_to_finish_in(hours, days, at_a_time)
    assert days_on(hours, gpus) <= days * (1 + 1e-9)
    assert gpus == at_a_time or days_on(hours, gpus - at_a_time) > days


@pytest.mark.parametrize("layers", [1, 3])
def test_a_gpt_2_counted_matrix_by_matrix(layers: int) -> None:
    """Here product by product: a matrix of m by k times one of k by n takes 2mkn FLOPs."""
    tokens, width, heads, vocab = 6, 8, 2, 11
    head = width // heads
    products = [(tokens, width, width)] * 4 + [(tokens, width, 4 * width), (tokens, 4 * width, width)]
    products += [(tokens, head, tokens), (tokens, tokens, head)] * heads
    forward = sum(2 * m * k * n for m, k, n in products * layers + [(tokens, width, vocab)])
    shape = Gpt2Shape(layers, heads, width, tokens, vocab)
    assert forward_flops_per_sequence(shape) == forward
    assert training_flops_per_sequence(shape) == 3 * forward


def test_6nd_is_near_the_exact_count() -> None:
    """nanoGPT: 6N + 12LHQT is 1.0001 of the exact count, with N without positions."""
    without_positions = parameter_count(GPT_2) - 1024 * 768
    attention = Attention(layers=12, heads=12, head_dim=64, sequence=1024)
    estimate = training_flops_per_token(without_positions, "model", attention) * 1024
    assert estimate / training_flops_per_sequence(GPT_2) == pytest.approx(1.0001, abs=0.0001)


@pytest.mark.parametrize(
    ("method", "convention", "factor"),
    [
        ("full", "model", 6),
        ("full", "hardware", 8),
        ("lora", "model", 4),
        ("lora", "hardware", 6),
        ("qlora", "model", 4),
        ("qlora", "hardware", 6),
    ],
)
def test_fine_tuning_takes_a_factor_of_its_method(method: Any, convention: Any, factor: int) -> None:
    work = fine_tuning_work(65e9, 50e6, 3, method, convention)
    assert work.flops == pytest.approx(factor * 65e9 * 50e6 * 3)
    assert work.convention == convention


@QUICK
@given(PARAMETERS, TOKENS)
def test_full_fine_tuning_of_one_epoch_is_training(parameters: float, tokens: float) -> None:
    for convention in ("model", "hardware"):
        tuned = fine_tuning_work(parameters, tokens, 1, "full", convention)
        assert tuned.flops == pytest.approx(training_work(parameters, tokens, convention).flops)


def test_a_programme_is_its_final_run_with_experiments_and_restarts() -> None:
    """DeepSeek-V3's 2.788 M hours cover the final run: with the defaults a programme takes 6.41 M."""
    assert programme_gpu_hours(2.788e6) == pytest.approx(2.788e6 * 2.0 * 1.15)
    assert programme_gpu_hours(2.788e6, experiments=0.0, restarts=0.0) == 2.788e6
    assert (EXPERIMENTS.value, EXPERIMENTS.low, EXPERIMENTS.high) == (1.0, 0.5, 3.0)
    assert (RESTARTS.value, RESTARTS.label) == (0.15, "judgement")


def test_runs_sweeps_and_retraining_by_the_month() -> None:
    assert runs_gpu_hours_per_month(100.0, 12) == 1200.0
    assert runs_within(runs_gpu_hours_per_month(100.0, 12), 100.0) == 12.0
    assert sweep_gpu_hours(32, 100.0, mean_share_of_full_run=0.1) == pytest.approx(320.0)
    assert sweep_gpu_hours(0, 100.0) == 0.0
    # 730 hours are 30.4167 days: one retraining in so many days is one a month
    assert retraining_gpu_hours_per_month(100.0, every_days=730 / 24) == pytest.approx(100.0)
    assert retraining_gpu_hours_per_month(100.0, 1.0, share_of_full_run=0.1) == pytest.approx(10 * 730 / 24)


REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (training_work, (0.0, 1e9, "model"), "parameters is 0.0"),
    (training_work, (1e9, -1.0, "model"), "tokens is -1.0"),
    (training_work, (1e9, float("nan"), "model"), "tokens is nan"),
    (training_work, (1e9, 1e9, "6ND"), "convention is '6ND'; right would be model or hardware"),
    (training_work, (1e9, 1e9, "hardware", None, 1.5), "recomputed_share is 1.5"),
    (Work, (-1.0, "model"), "flops is -1.0"),
    (Work, (1.0, "gross"), "convention is 'gross'"),
    (Speed, (0.0, "model"), "tflops_per_gpu is 0.0"),
    (Attention, (1, 1, 1, 0.5), "sequence is 0.5"),
    (speed_from_mfu, (989.0, 1.2), "mfu is 1.2"),
    (speed_from_mfu, (989.0, 0.0), "mfu is 0.0"),
    (speed_from_hfu, (float("inf"), 0.5), "dense_peak_tflops is inf"),
    (gpu_hours, (Work(1.0, "model"), Speed(1.0, "model"), 0.0), "goodput is 0.0"),
    (days_on, (1.0, 0), "gpus is 0"),
    (gpus_to_finish_in, (1.0, 0.0), "days is 0.0"),
    (measured_utilization, (1e9, 6e9, 1, 989.0), r"tokens_per_second is .* at most 164,833"),
    (Gpt2Shape, (12, 7, 768, 1024, 50257), "d_model is 768; right would be a multiple of heads, 7"),
    (fine_tuning_work, (1e9, 1e9, 1, "dora", "model"), "method is 'dora'"),
    (fine_tuning_work, (1e9, 1e9, -1, "full", "model"), "epochs is -1"),
    (programme_gpu_hours, (1.0, -0.1), "experiments is -0.1"),
    (runs_within, (1.0, 0.0), "gpu_hours_per_run is 0.0"),
    (sweep_gpu_hours, (1.5, 1.0), "trials is 1.5"),
    (retraining_gpu_hours_per_month, (1.0, 0.0), "every_days is 0.0"),
    (Assumption, ("x", 5.0, 0.0, 1.0, "judgement", ""), "value is 5.0"),
    (Assumption, ("x", 0.5, 0.0, 1.0, "guess", ""), "label is 'guess'"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED)
def test_impossible_values_are_refused(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)
