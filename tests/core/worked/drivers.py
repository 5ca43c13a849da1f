"""What turns work into GPU-hours."""

from planner.core import metered
from planner.core.drivers import flops, goodput, inference, links, queueing, scaling, training, transformer
from planner.core.units import BYTES_PER_GB, SECONDS_PER_MINUTE
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="DEM-01",
        source="Brown et al. 2020 (GPT-3): 175B parameters, 300B tokens, 3.14e23 FLOPs, 3,640 PF/s-days",
        inputs={"parameters": 175e9, "tokens": 300e9},
        expected={"flops": 3.15e23, "petaflop_s_days": 3645.8},
        kind="relative",
        tolerance=0.005,
    ),
    Example(
        id="DEM-03",
        source="Narayanan et al. 2021 (Megatron-LM): 8TP/(nX), 1,024 A100 at 140 TFLOP/s, 34 days",
        inputs={
            "tokens": 300e9,
            "parameters": 175e9,
            "gpus": 1024,
            "achieved_tflops_per_gpu": 140,
            "factor": 8,
        },
        expected={"days": 33.91},
        kind="relative",
        tolerance=0.005,
    ),
    Example(
        id="DEM-05",
        source="BigScience tr11-176B README: 450e9 * 8 * 167e9 / (384 * 150e12 * 86400) = 120.80 days",
        inputs={
            "tokens": 450e9,
            "parameters": 167e9,
            "gpus": 384,
            "achieved_tflops_per_gpu": 150,
            "factor": 8,
        },
        expected={"days": 120.8},
        kind="absolute",
        tolerance=0.01,
    ),
    Example(
        id="DEM-06",
        source="Chowdhery et al. 2022 (PaLM): 238.3K tokens/s on 6,144 TPU v4: 45.7 % and 46.2 %",
        inputs={
            "tokens_per_second": 238300,
            "parameters": 540.35e9,
            "chips": 6144,
            "peak_tflops_per_chip": 275,
            "layers": 118,
            "heads": 48,
            "head_dim": 256,
            "sequence": 2048,
        },
        expected={"mfu_without_attention": 0.457, "mfu_with_attention": 0.462},
        kind="absolute",
        tolerance=0.0006,
    ),
    Example(
        id="DEM-08",
        source="karpathy/nanoGPT, transformer_sizing notebook",
        inputs={
            "layers": 12,
            "heads": 12,
            "d_model": 768,
            "block_size": 1024,
            "vocab": 50257,
            "tokens": 300e9,
            "gpus": 8,
            "peak_tflops": 312,
            "mfu": 0.3,
        },
        expected={
            "parameters": 124337664,
            "training_flops_per_sequence": 874944921600,
            "days": 3.46,
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="DEM-09",
        source="DeepSeek-V3 report: 2,664K + 119K + 5K H800 hours at 2 USD; the final run alone",
        inputs={"gpu_hours": [2664000, 119000, 5000], "usd_per_gpu_hour": 2.0},
        expected={"gpu_hours_total": 2788000, "usd": 5576000},
        kind="absolute",
        tolerance=1,
    ),
    Example(
        id="DEM-11",
        source="pyworkforce documentation, Erlang C: 100 calls in 30 minutes of 3 minutes, 20 s, 80 %",
        inputs={
            "arrivals": 100,
            "interval_minutes": 30,
            "service_minutes": 3,
            "target_wait_seconds": 20,
            "target_service_level": 0.8,
            "max_occupancy": 0.85,
            "shrinkage": 0.3,
        },
        expected={
            "offered_load": 10.0,
            "servers": 14,
            "servers_with_shrinkage": 20,
            "service_level": 0.8883500191794669,
            "occupancy": 0.7142857142857143,
            "probability_of_waiting": 0.1741319335950498,
        },
        kind="relative",
        tolerance=1e-09,
    ),
    Example(
        id="DEM-13",
        source="DeepSeek-V3/R1 inference system overview, 2025-02-28: 226.75 nodes on average, 278 at peak",
        inputs={
            "input_tokens": 608e9,
            "output_tokens": 168e9,
            "seconds": 86400,
            "input_tok_per_s_per_node": 73700,
            "output_tok_per_s_per_node": 14800,
        },
        expected={"prefill_nodes": 95.48, "decode_nodes": 131.38, "nodes": 226.86},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="DEM-16",
        source="NVIDIA nccl-tests PERFORMANCE.md; link speeds from S. Bekman, Machine Learning Engineering",
        inputs={
            "bytes": 14e9,
            "ranks": 8,
            "bandwidth_bytes_per_s": {"nvlink4": 450e9, "pcie5": 63e9},
            "compute_seconds_per_step": 1.2,
        },
        expected={
            "seconds": {"nvlink4": 0.0544444, "pcie5": 0.3888889},
            "efficiency_without_overlap": {"nvlink4": 0.956599, "pcie5": 0.755245},
        },
        kind="relative",
        tolerance=1e-05,
    ),
    Example(
        id="DEM-17",
        source="Formula of Kokolis et al. 2025; the Llama 3 paper reports more than 90 %",
        inputs={
            "nodes": 2048,
            "failures_per_node_day": 0.003788701,
            "checkpoint_write_seconds": 10,
            "restart_minutes": 10,
        },
        expected={"optimal_interval_minutes": 7.8652, "ettr": 0.905733},
        kind="relative",
        tolerance=0.0001,
    ),
]

CONVENTION_OF: dict[int, flops.Convention] = {6: "model", 8: "hardware"}


def training_flops(given: Values) -> Values:
    work = flops.training_work(given["parameters"], given["tokens"], "model")
    return {"flops": work.flops, "petaflop_s_days": flops.petaflop_s_days(work)}


def days_at_achieved_speed(given: Values) -> Values:
    convention = CONVENTION_OF[given["factor"]]
    work = flops.training_work(given["parameters"], given["tokens"], convention)
    speed = flops.Speed(given["achieved_tflops_per_gpu"], convention)
    return {"days": training.days_on(training.gpu_hours(work, speed), given["gpus"])}


def measured_mfu(given: Values) -> Values:
    attention = flops.Attention(given["layers"], given["heads"], given["head_dim"], given["sequence"])

    def mfu(seen: flops.Attention | None) -> float:
        return training.measured_utilization(
            given["tokens_per_second"],
            flops.training_flops_per_token(given["parameters"], "model", seen),
            given["chips"],
            given["peak_tflops_per_chip"],
        )

    return {"mfu_without_attention": mfu(None), "mfu_with_attention": mfu(attention)}


def gpt_2(given: Values) -> Values:
    shape = transformer.Gpt2Shape(
        given["layers"], given["heads"], given["d_model"], given["block_size"], given["vocab"]
    )
    parameters = transformer.parameter_count(shape)
    work = flops.training_work(parameters, given["tokens"], "model")
    speed = flops.speed_from_mfu(given["peak_tflops"], given["mfu"])
    return {
        "parameters": parameters,
        "training_flops_per_sequence": transformer.training_flops_per_sequence(shape),
        "days": training.days_on(training.gpu_hours(work, speed), given["gpus"]),
    }


def cost_of_training(given: Values) -> Values:
    hours = sum(given["gpu_hours"])
    return {
        "gpu_hours_total": hours,
        "usd": metered.usd_for_gpu_hours(hours, given["usd_per_gpu_hour"], 1),
    }


def erlang_staffing(given: Values) -> Values:
    staffing = queueing.servers_needed(
        arrivals_per_second=given["arrivals"] / (given["interval_minutes"] * SECONDS_PER_MINUTE),
        service_seconds=given["service_minutes"] * SECONDS_PER_MINUTE,
        target_wait_seconds=given["target_wait_seconds"],
        service_level=given["target_service_level"],
        max_occupancy=given["max_occupancy"],
        shrinkage=given["shrinkage"],
    )
    return {
        "offered_load": staffing.queue.offered_load,
        "servers": staffing.servers,
        "servers_with_shrinkage": staffing.servers_with_shrinkage,
        "service_level": staffing.service_level,
        "occupancy": staffing.queue.occupancy,
        "probability_of_waiting": staffing.queue.probability_of_waiting,
    }


def nodes_of_a_token_load(given: Values) -> Values:
    nodes = inference.nodes_for_tokens(
        given["input_tokens"] / given["seconds"],
        given["output_tokens"] / given["seconds"],
        given["input_tok_per_s_per_node"],
        given["output_tok_per_s_per_node"],
    )
    return {"prefill_nodes": nodes.prefill, "decode_nodes": nodes.decode, "nodes": nodes.total}


def all_reduce(given: Values) -> Values:
    speeds = {name: speed / BYTES_PER_GB for name, speed in given["bandwidth_bytes_per_s"].items()}
    assert speeds == {
        "nvlink4": links.link("NVLink 4").gb_per_second,
        "pcie5": links.link("PCIe 5 x16").gb_per_second,
    }
    seconds = {
        name: scaling.ring_all_reduce_seconds(given["bytes"], given["ranks"], speed)
        for name, speed in speeds.items()
    }
    compute = given["compute_seconds_per_step"]
    return {
        "seconds": seconds,
        "efficiency_without_overlap": {
            name: scaling.data_parallel_step(compute, traffic).efficiency for name, traffic in seconds.items()
        },
    }


def effective_training_time(given: Values) -> Values:
    result = goodput.goodput(
        given["nodes"],
        given["failures_per_node_day"],
        given["restart_minutes"],
        given["checkpoint_write_seconds"],
    )
    return {"optimal_interval_minutes": result.interval_minutes, "ettr": result.ratio}


ANSWERS = {
    "DEM-01": training_flops,
    "DEM-03": days_at_achieved_speed,
    "DEM-05": days_at_achieved_speed,
    "DEM-06": measured_mfu,
    "DEM-08": gpt_2,
    "DEM-09": cost_of_training,
    "DEM-11": erlang_staffing,
    "DEM-13": nodes_of_a_token_load,
    "DEM-16": all_reduce,
    "DEM-17": effective_training_time,
}
