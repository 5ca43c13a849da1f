"""Which accelerator an offer holds, by what its provider writes."""

import pytest

from costs.gate import Known
from costs.names import accelerator_key

KNOWN = Known(
    {
        accelerator_key(name): slug
        for name, slug in [
            ("A100-80GB", "a100-sxm-80gb"),
            ("a100-sxm-80gb", "a100-sxm-80gb"),
            ("a100-pcie-80gb", "a100-pcie-80gb"),
            ("Standard_NC24ads_A100_v4", "a100-pcie-80gb"),
        ]
    }
)


@pytest.mark.parametrize(
    ("sku", "name", "slug"),
    [
        ("Standard_ND96amsr_A100_v4", "A100-80GB", "a100-sxm-80gb"),  # the name alone
        ("Standard_NC24ads_A100_v4", "A100-80GB", "a100-pcie-80gb"),  # the type knows better
        ("Standard_NC24ads_A100_v4", "a100-sxm-80gb", "a100-sxm-80gb"),  # a slug is meant as it stands
        ("Standard_NC24ads_A100_v4", "unheard of", "a100-pcie-80gb"),
        ("m5.xlarge", "unheard of", None),
    ],
)
def test_a_slug_says_most_then_the_machine_type_then_the_name(sku: str, name: str, slug: str | None) -> None:
    assert KNOWN.slug_of(sku, name) == slug
