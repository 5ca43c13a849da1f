"""Every real price, commitment, spot and quota file is taken, or refused with a reason that is right."""

from pathlib import Path

import pytest

from costs.ingest import ingest
from costs.ledger import verify
from costs.models import IngestRun
from costs.recognize import recognize

from .conftest import A_MOMENT, Take
from .every_file import FILES, Taken

pytestmark = pytest.mark.shared
AREAS = ("prices", "commitments", "spot", "quotas")
# states how Google words its SKUs; no layout of ours, so a person has to choose the source
NOT_RECOGNISED = {"prices/gcp_sku_description_mapping_cyclenerd.csv"}


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


def test_no_real_file_is_forgotten(data: Path) -> None:
    there = {str(path.relative_to(data)) for area in AREAS for path in (data / area).rglob("*")
             if path.is_file()}  # fmt: skip
    assert {taken.file for taken in FILES} == there


def test_every_real_file_says_itself_what_it_is(data: Path) -> None:
    found = {}
    for taken in FILES:
        with (data / taken.file).open("rb") as file:
            found[taken.file] = recognize(file, Path(taken.file).name)
    expected = {taken.file: [] if taken.file in NOT_RECOGNISED else [taken.source] for taken in FILES}
    assert found == expected


@pytest.mark.django_db
@pytest.mark.parametrize("taken", FILES, ids=lambda taken: str(taken.file))
def test_lines_of_a_real_file_are_kept_refused_or_held_and_none_is_lost(
    take: Take, data: Path, taken: Taken
) -> None:
    assert take(None, "machine_types").status == IngestRun.Status.DONE
    path = data / taken.file
    # the traces' date stands in the name of their folder
    name = taken.file if "spot_traces" in taken.file else path.name
    run = ingest(taken.source, file=path, name=name, params=taken.params, requested_by="test", now=A_MOMENT)
    counts = (run.lines_read, run.lines_kept, run.lines_rejected, run.lines_quarantined)
    assert (run.status, run.error_code, *counts) == taken[3:]
    assert run.lines_read == run.lines_kept + run.lines_rejected + run.lines_quarantined
    assert verify().problems == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "file",
    ["prices/skypilot_azure_gpu_2026-05-20.csv", "spot/aws_spot_prices_az_id_2022-05-31_accelerated.tsv"],
)
def test_a_real_file_twice_changes_nothing(take: Take, data: Path, file: str) -> None:
    (taken,) = (each for each in FILES if each.file == file)
    path = data / file
    for status in (taken.status, "duplicate"):
        run = ingest(
            taken.source, file=path, name=path.name, params=taken.params, requested_by="test", now=A_MOMENT
        )
        assert run.status == status
