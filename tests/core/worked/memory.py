"""What fits into a GPU's memory."""

from planner.core.fit import activations, adapters, kv_cache, states
from planner.core.units import BYTES_PER_GB, BYTES_PER_GIB
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="MEM-01",
        source="Rajbhandari et al. 2020 (ZeRO), figure 1",
        inputs={
            "parameters": 7.5e9,
            "gpus": 64,
            "bytes_param": 2,
            "bytes_grad": 2,
            "bytes_optimizer": 12,
        },
        expected={"gb": {"stage0": 120.0, "stage1": 31.4, "stage2": 16.6, "stage3": 1.9}},
        kind="absolute",
        tolerance=0.05,
    ),
    Example(
        id="MEM-02",
        source='DeepSpeed documentation, memory.rst (printed "GB" are GiB)',
        inputs={
            "parameters": 2851e6,
            "largest_layer_parameters": 32e6,
            "gpus": 8,
            "gpus_per_node": 8,
        },
        expected={"gib": {"zero2": 15.93, "zero2_offload": 5.31, "zero3": 6.09, "cpu_zero2": 127.45}},
        kind="absolute",
        tolerance=0.006,
    ),
    Example(
        id="MEM-04",
        source="Korthikanti et al. 2022: 5as/h = 80 for GPT-3; 70 % of memory for 2.7 % more FLOPs",
        inputs={"heads": 96, "sequence": 2048, "hidden": 12288},
        expected={"attention_term": 80.0, "memory_saved": 0.7018, "extra_flops": 0.0278},
        kind="relative",
        tolerance=0.005,
    ),
    Example(
        id="MEM-06",
        source="Formulas of Korthikanti et al. 2022; values computed",
        inputs={"sequence": 2048, "microbatch": 1, "hidden": 12288, "heads": 96, "tensor_parallel": 8},
        expected={
            "gib": {
                "none": 2.671875,
                "tensor": 0.539062,
                "tensor_sequence": 0.333984,
                "tensor_sequence_selective": 0.099609,
                "full_recompute": 0.046875,
            }
        },
        kind="relative",
        tolerance=1e-05,
    ),
    Example(
        id="MEM-07",
        source="Kwon et al. 2023 (PagedAttention): OPT-13B on a 40 GB A100",
        inputs={
            "layers": 40,
            "kv_heads": 40,
            "head_dim": 128,
            "bytes": 2,
            "tokens": 2048,
            "kv_memory_gib": 12,
        },
        expected={"bytes_per_token": 819200, "gib_for_sequence": 1.5625, "token_slots": 15728},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="MEM-10",
        source='Dettmers et al. 2023 (QLoRA): 16-bit fine-tuning of 65B needs "more than 780 GB"',
        inputs={
            "parameters": 65e9,
            "bytes_per_parameter_full": 12,
            "nf4_bits": 4,
            "double_quant_bits": 0.127,
        },
        expected={"full_gb": 780.0, "quantized_weights_gb": 33.53},
        kind="relative",
        tolerance=0.001,
    ),
]


def zero_stages(given: Values) -> Values:
    convention = states.StateConvention(
        given["bytes_param"], given["bytes_grad"], given["bytes_optimizer"], "as given"
    )
    sizes = (states.model_states(given["parameters"], convention, stage, given["gpus"]) for stage in range(4))
    return {"gb": {f"stage{stage}": size.total_bytes / BYTES_PER_GB for stage, size in enumerate(sizes)}}


def deepspeed_estimator(given: Values) -> Values:
    parameters, gpus, node = given["parameters"], given["gpus"], given["gpus_per_node"]
    offloaded = states.deepspeed_zero2(parameters, gpus, node, offload="optimizer")
    third = states.deepspeed_zero3(parameters, given["largest_layer_parameters"], gpus, node)
    sizes = {
        "zero2": states.deepspeed_zero2(parameters, gpus, node).gpu_bytes,
        "zero2_offload": offloaded.gpu_bytes,
        "zero3": third.gpu_bytes,
        "cpu_zero2": offloaded.cpu_bytes,
    }
    return {"gib": {name: size / BYTES_PER_GIB for name, size in sizes.items()}}


def selective_recomputation(given: Values) -> Values:
    heads, sequence, hidden = given["heads"], given["sequence"], given["hidden"]
    return {
        "attention_term": activations.attention_term(heads, sequence, hidden),
        "memory_saved": activations.memory_saved_by_selective_recomputation(heads, sequence, hidden),
        "extra_flops": activations.extra_flops_of_selective_recomputation(sequence, hidden),
    }


def activation_schemes(given: Values) -> Values:
    sizes = {
        scheme: activations.layer_activation_bytes(
            scheme,
            given["sequence"],
            given["microbatch"],
            given["hidden"],
            given["heads"],
            given["tensor_parallel"],
        )
        for scheme in activations.SCHEMES
    }
    return {"gib": {scheme: size / BYTES_PER_GIB for scheme, size in sizes.items()}}


def cache_of_keys_and_values(given: Values) -> Values:
    per_token = kv_cache.kv_bytes_per_token(
        given["layers"], given["kv_heads"], given["head_dim"], given["bytes"]
    )
    return {
        "bytes_per_token": per_token,
        "gib_for_sequence": kv_cache.kv_bytes(per_token, given["tokens"]) / BYTES_PER_GIB,
        "token_slots": kv_cache.token_slots(given["kv_memory_gib"] * BYTES_PER_GIB, per_token),
    }


def fine_tuning_of_65b(given: Values) -> Values:
    convention = states.convention_named("16_bit_fine_tuning")
    assert convention.bytes_per_parameter == given["bytes_per_parameter_full"]
    full = states.model_states(given["parameters"], convention, stage=0, gpus=1).total_bytes
    quantized = adapters.quantized_weight_bytes(
        given["parameters"], given["nf4_bits"], given["double_quant_bits"]
    )
    return {"full_gb": full / BYTES_PER_GB, "quantized_weights_gb": quantized / BYTES_PER_GB}


ANSWERS = {
    "MEM-01": zero_stages,
    "MEM-02": deepspeed_estimator,
    "MEM-04": selective_recomputation,
    "MEM-06": activation_schemes,
    "MEM-07": cache_of_keys_and_values,
    "MEM-10": fine_tuning_of_65b,
}
