"""Count what is kept and refused of real Azure files, against counts worked out from their JSON alone."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, PriceRow

from .readings import Reading, read_path

pytestmark = pytest.mark.shared


def items(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(), parse_float=Decimal)["Items"]
    return found


def prices(read: Reading) -> dict[str, Decimal | None]:
    return {row.term: row.price_per_hour for row in read.rows if isinstance(row, PriceRow)}


def test_of_four_meters_of_one_size_the_linux_and_the_spot_price_are_kept(shared: Path) -> None:
    path = shared / "data" / "prices" / "azure_retail_nd96isr_h100_trimmed_2026-09-16.json"
    raw = items(path)
    windows = [each for each in raw if each["productName"].endswith(" Windows")]
    linux = [each for each in raw if each not in windows]
    assert (len(raw), len(windows), len(linux)) == (4, 2, 2)
    read = read_path("azure_prices", path)
    assert (read.lines, len(read.kept), read.by_rule) == (4, 2, {"windows": 2})
    by_meter = {each["meterName"].endswith("Spot"): each["retailPrice"] for each in linux}
    assert prices(read) == {"on_demand": by_meter[False], "spot": by_meter[True]}
    assert prices(read) == {"on_demand": Decimal("98.32"), "spot": Decimal("18.169536")}
    assert {(row.gpu_count, row.region) for row in read.rows if isinstance(row, PriceRow)} == {(8, "eastus")}


@pytest.mark.parametrize(
    "place",
    [
        "prices/azure_retail_prices_sample_azscout.json",
        "commitments/azure_retail_reservation_rows_non_gpu.json",
    ],
)
def test_sizes_without_accelerators_are_left_out_by_name(shared: Path, place: str) -> None:
    path = shared / "data" / place
    sizes = [each["armSkuName"] for each in items(path)]
    assert not any(size.startswith("Standard_N") for size in sizes)
    read = read_path("azure_prices", path)
    assert (read.lines, read.rows, read.by_rule) == (len(sizes), [], {"no_accelerator": len(sizes)})


def test_values_that_were_copied_out_of_an_answer_are_no_answer(shared: Path) -> None:
    path = shared / "data" / "commitments" / "azure_savingsplan_vs_reservation_values.json"
    assert "NextPageLink" not in json.loads(path.read_text())
    with pytest.raises(FileError, match="json_wrong") as caught:
        read_path("azure_prices", path)
    assert "NextPageLink" in caught.value.value


def test_a_list_of_sizes_states_no_price(shared: Path) -> None:
    with pytest.raises(FileError, match="no_prices"):
        read_path("azure_prices", shared / "data" / "prices" / "azure_compute_skus_sample_azscout.json")
