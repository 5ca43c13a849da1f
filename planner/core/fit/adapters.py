"""Fine-tuning with adapters: LoRA keeps the base weights as they are, QLoRA in 4 bits."""

from collections.abc import Sequence

from planner.core.fit.states import PARAMETERS
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, takes
from planner.core.units import BITS_PER_BYTE

ADAPTER_BYTES = 16.0  # weights, gradients and Adam of each adapter parameter, mixed precision
NF4_BITS = 4.0
DOUBLE_QUANTIZATION_BITS = 0.127  # constants of quantization, themselves quantized


@takes(rank=COUNT_FROM_1, shapes=COUNT_FROM_1, layers=COUNT_FROM_1)
def lora_parameters(rank: int, shapes: Sequence[tuple[int, int]], layers: int) -> int:
    """Return layers * sum of r (rows + columns) over the adapted matrices of one layer.

    `shapes` holds (rows, columns) of each matrix. Source: Hu et al. 2021 (LoRA).

    >>> lora_parameters(16, [(8192, 8192), (1024, 8192)], layers=80)
    32768000
    """
    return layers * sum(rank * (rows + columns) for rows, columns in shapes)


@takes(parameters=PARAMETERS, bits=ABOVE_0, constant_bits=AT_LEAST_0)
def quantized_weight_bytes(
    parameters: float, bits: float = NF4_BITS, constant_bits: float = DOUBLE_QUANTIZATION_BITS
) -> float:
    """Return P (bits + bits of quantization constants per parameter) / 8.

    Source: Dettmers et al. 2023 (QLoRA): 4 bits and, with double quantization, 0.127 bit.

    >>> round(quantized_weight_bytes(65e9) / 1e9, 2)
    33.53
    """
    return parameters * (bits + constant_bits) / BITS_PER_BYTE


@takes(parameters=PARAMETERS, adapter_parameters=PARAMETERS, base_bytes=ABOVE_0, adapter_bytes=ABOVE_0)
def lora_bytes(
    parameters: float,
    adapter_parameters: float,
    base_bytes: float = 2.0,
    adapter_bytes: float = ADAPTER_BYTES,
) -> float:
    """Return frozen base weights and adapter states on one GPU: 2 P + 16 A. Activations come on top.

    >>> lora_bytes(70e9, 0.2e9) / 1e9
    143.2
    """
    return parameters * base_bytes + adapter_parameters * adapter_bytes


@takes(parameters=PARAMETERS, adapter_parameters=PARAMETERS, adapter_bytes=ABOVE_0)
def qlora_bytes(parameters: float, adapter_parameters: float, adapter_bytes: float = ADAPTER_BYTES) -> float:
    """Return 4-bit base weights and adapter states on one GPU: 4.127 P / 8 + 16 A. Activations come on top.

    >>> round(qlora_bytes(65e9, 0.2e9) / 1e9, 2)
    36.73
    """
    return quantized_weight_bytes(parameters) + adapter_parameters * adapter_bytes
