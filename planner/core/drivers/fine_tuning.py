"""Work of fine-tuning: all weights, or adapters on frozen ones (LoRA, QLoRA).

It comes out as Work, so that training.gpu_hours() takes it like any other run. An MFU that goes with adapters
is one that was measured with their 4ND; with 6ND the same speed reads half as high again.
"""

from typing import Literal

from planner.core.drivers.flops import CONVENTIONS, FLOPS_PER_PARAMETER, Convention, Work
from planner.core.ranges import ABOVE_0, AT_LEAST_0, require_one_of, takes

Method = Literal["full", "lora", "qlora"]
METHODS: tuple[Method, ...] = ("full", "lora", "qlora")
# In forward passes: forward, backward to the activations, backward to the weights. Frozen weights need no
# gradient of their own; those of the adapters are too few to count.
PASSES: dict[str, float] = {"full": 3.0, "lora": 2.0, "qlora": 2.0}


@takes(parameters=ABOVE_0, tokens_per_epoch=AT_LEAST_0, epochs=AT_LEAST_0)
def fine_tuning_work(
    parameters: float, tokens_per_epoch: float, epochs: float, method: Method, convention: Convention
) -> Work:
    """Return the FLOPs of all epochs: 6ND full, 4ND LoRA and QLoRA; as hardware 8ND and 6ND.

    D = tokens per epoch * epochs. `hardware` counts a second forward pass, for activations that are computed
    again. N are all parameters active per token, the frozen ones with them. Dequantizing QLoRA's base model
    costs time that is not in the FLOPs: its MFU is lower.
    Source: the passes of Brown et al. 2020 and Hu et al. 2021 (LoRA); QLoRA: Dettmers et al. 2023.

    >>> fine_tuning_work(7e9, 100e6, 3, "lora", "model").flops / (7e9 * 300e6)
    4.0
    """
    require_one_of(METHODS, method=method)
    require_one_of(CONVENTIONS, convention=convention)
    passes = PASSES[method] + (1.0 if convention == "hardware" else 0.0)
    return Work(FLOPS_PER_PARAMETER * passes * parameters * tokens_per_epoch * epochs, convention)
