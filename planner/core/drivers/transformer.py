"""Parameters and FLOPs of a GPT-2 model counted matrix by matrix, to check 6ND against."""

from dataclasses import dataclass

from planner.core.ranges import COUNT_FROM_1, refuse, require_fields

# of the hidden layer of a block's MLP, in model widths
MLP_WIDTHS = 4
# query, key and value, and the projection back
ATTENTION_MATRICES = 4
FLOPS_PER_ENTRY = 2
PASSES = 3


@dataclass(frozen=True)
class Gpt2Shape:
    """A decoder in the shape of GPT-2: learned positions, tied embeddings, no biases."""

    layers: int
    heads: int
    d_model: int
    block_size: int
    vocab: int

    def __post_init__(self) -> None:
        require_fields(
            self,
            layers=COUNT_FROM_1,
            heads=COUNT_FROM_1,
            d_model=COUNT_FROM_1,
            block_size=COUNT_FROM_1,
            vocab=COUNT_FROM_1,
        )
        if self.d_model % self.heads:
            refuse("d_model", self.d_model, f"a multiple of heads, {self.heads}")


def _block_weights(shape: Gpt2Shape) -> int:
    """Return the entries of one block's matrices: 4d^2 of attention and 8d^2 of the MLP."""
    return (ATTENTION_MATRICES + 2 * MLP_WIDTHS) * shape.d_model**2


def parameter_count(shape: Gpt2Shape) -> int:
    """Return Vd + Td + L (12d^2 + 2d) + d: embeddings, positions, blocks with two norms, the last norm.

    V vocabulary, T positions, d width, L layers. Source: karpathy/nanoGPT, transformer_sizing.

    >>> parameter_count(Gpt2Shape(layers=12, heads=12, d_model=768, block_size=1024, vocab=50257))
    124337664
    """
    d = shape.d_model
    embeddings = (shape.vocab + shape.block_size) * d
    return embeddings + shape.layers * (_block_weights(shape) + 2 * d) + d


def forward_flops_per_sequence(shape: Gpt2Shape) -> int:
    """Return 2T (L (12d^2 + 2Td) + dV): the matrix products of one forward pass over T tokens.

    2Td are the scores and their use, to all positions, masked or not. Norms, softmax and the look-up of
    embeddings are left out. Source: karpathy/nanoGPT, transformer_sizing.

    >>> forward_flops_per_sequence(Gpt2Shape(layers=1, heads=1, d_model=2, block_size=3, vocab=5))
    420
    """
    d, tokens = shape.d_model, shape.block_size
    per_token = shape.layers * (_block_weights(shape) + 2 * tokens * d) + d * shape.vocab
    return FLOPS_PER_ENTRY * tokens * per_token


def training_flops_per_sequence(shape: Gpt2Shape) -> int:
    """Return 3 * forward: the backward pass costs twice the forward one. No recomputation.

    >>> training_flops_per_sequence(
    ...     Gpt2Shape(layers=12, heads=12, d_model=768, block_size=1024, vocab=50257)
    ... )
    874944921600
    """
    return PASSES * forward_flops_per_sequence(shape)
