"""Every real file of prices, commitments, limits and spot says itself which source it is for."""

from pathlib import Path

import pytest

from costs.recognize import recognize

pytestmark = pytest.mark.shared
FOLDERS = ("prices", "commitments", "quotas", "spot")
# a table of what descriptions mean, which holds no fact of its own
OF_NO_SOURCE = {"gcp_sku_description_mapping_cyclenerd.csv"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_file_is_recognised_as_that_of_one_source(shared: Path, folder: str) -> None:
    paths = [path for path in sorted((shared / "data" / folder).rglob("*")) if path.is_file()]
    assert paths
    found = {}
    for path in paths:
        with path.open("rb") as file:
            found[path.name] = recognize(file, path.name)
    assert {name: sources for name, sources in found.items() if len(sources) != 1} == {
        name: [] for name in found if name in OF_NO_SOURCE
    }
