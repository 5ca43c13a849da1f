"""State how gpuhunt's published catalogue is fetched, unpacked and read."""

import csv
import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from gpuhunt._internal import catalog, storage

from costs import egress
from costs.rows import FileError, PriceRow
from costs.sources import gpuhunt_archive, gpuhunt_catalogue
from costs.sources.byte_stream import Limits
from costs.sources.gpuhunt_archive import member_of

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, read_text

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LINE = {
    "instance_name": "p5.48xlarge", "location": "us-east-1", "price": "55.04", "cpu": "192",
    "memory": "2048.0", "gpu_count": "8", "gpu_name": "H100", "gpu_memory": "80.0", "spot": "False",
    "gpu_vendor": "nvidia", "cpu_arch": "x86", "provider_data": "{}",
}  # fmt: skip


def _csv(*lines: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, storage.CATALOG_V2_FIELDS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _read(provider: str, *lines: dict[str, str]) -> Reading:
    return read_text("gpuhunt_catalogue", _csv(*lines), f"{provider}.csv")


def _rows(provider: str, *lines: dict[str, str]) -> list[PriceRow]:
    reading = _read(provider, *lines)
    assert reading.by_rule == {}
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def _zip(members: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_the_address_and_the_columns_are_those_of_the_library() -> None:
    assert gpuhunt_archive.ADDRESS == catalog.CATALOG_URL
    assert set(gpuhunt_archive.PUBLISHED) == set(catalog.OFFLINE_PROVIDERS)
    assert set(gpuhunt_catalogue.COLUMNS) <= set(storage.CATALOG_V2_FIELDS)


def test_a_price_is_that_of_the_whole_machine_digit_for_digit() -> None:
    [row] = _rows("aws", {**LINE, "price": "98.32000000000001"})
    assert (row.provider, row.sku, row.region, row.zone) == ("aws", "p5.48xlarge", "us-east-1", "")
    assert (row.accelerator_name, row.gpu_count, row.term) == ("H100", Decimal(8), "on_demand")
    # nine decimals are kept: the binary tail is cut, and nothing goes through a float
    assert row.price_per_hour == Decimal("98.320000000")
    assert (row.vcpus, row.memory_gib) == (Decimal(192), Decimal(2048))


def test_spot_is_a_row_of_its_own() -> None:
    on_demand, spot = _rows("aws", LINE, {**LINE, "price": "24.1", "spot": "True"})
    assert (on_demand.term, on_demand.price_per_hour) == ("on_demand", Decimal("55.04"))
    assert (spot.term, spot.price_per_hour) == ("spot", Decimal("24.1"))


def test_a_machine_without_accelerator_is_out_of_scope() -> None:
    cpu = {**LINE, "instance_name": "m7i.large", "gpu_count": "0", "gpu_name": "", "gpu_memory": ""}
    assert _read("aws", {**cpu, "gpu_vendor": ""}).by_rule == {"no_accelerator": 1}


def test_a_free_capacity_block_is_no_price_and_any_other_zero_is_an_error() -> None:
    """Oddity 1: a p5 at $0.00 is the row of its Capacity Blocks."""
    free = {**LINE, "price": "0.0"}
    assert _read("aws", LINE, free).by_rule == {"capacity_block": 1}
    assert _read("aws", {**free, "instance_name": "g5.xlarge", "gpu_count": "1"}).by_rule == {"zero_price": 1}
    assert _read("aws", {**free, "spot": "True"}).by_rule == {"zero_price": 1}
    assert _read("azure", free).by_rule == {"zero_price": 1}


@pytest.mark.parametrize(
    ("provider", "name", "gpu", "memory", "count"),
    [
        ("azure", "Standard_NV6ads_A10_v5", "A10", "4.0", "0.167"),
        ("azure", "Standard_NV36ads_A10_v5", "A10", "24.0", "1"),
        ("gcp", "g4-standard-6", "RTXPRO6000", "12.0", "0.125"),
        ("aws", "g6f.4xlarge", "L4", "12.0", "0.5"),
    ],
)
def test_a_part_of_a_card_counts_as_the_part(
    provider: str, name: str, gpu: str, memory: str, count: str
) -> None:
    """The library says one accelerator of less memory."""
    part = {**LINE, "instance_name": name, "gpu_name": gpu, "gpu_memory": memory, "gpu_count": "1"}
    [row] = _rows(provider, part)
    assert row.gpu_count == Decimal(count)
    assert "GB" not in row.accelerator_name


@pytest.mark.parametrize(
    ("provider", "name", "gpu", "memory", "accelerator"),
    [
        ("runpod", "NVIDIA A100 80GB PCIe", "A100", "80", "A100 80GB"),
        ("runpod", "NVIDIA A100-SXM4-40GB", "A100", "40", "A100"),
        ("verda", "1V100.6V", "V100", "16.0", "V100"),
        ("nebius", "gpu-b300-sxm 8gpu-192vcpu-2768gb", "B300", "270.0", "B300"),
        ("cloudrift", "rtx49-7c-kn.1", "RTX4090", "24.0", "RTX4090"),
        ("azure", "Standard_NC24ads_A100_v4", "A100", "80.0", "A100-80GB"),
        ("lambdalabs", "gpu_1x_h100_pcie", "H100", "80.0", "H100"),
    ],
)
def test_a_name_says_which_memory_is_meant(
    provider: str, name: str, gpu: str, memory: str, accelerator: str
) -> None:
    line = {**LINE, "instance_name": name, "gpu_name": gpu, "gpu_memory": memory, "gpu_count": "1"}
    [row] = _rows(provider, line)
    assert row.accelerator_name == accelerator


@pytest.mark.parametrize(
    ("name", "vendor", "accelerator", "chips"),
    [
        ("v5litepod-8", "google", "TPU v5e", 8),
        ("v5p-8", "google", "TPU v5p", 4),
        ("tpu-v3-8", "", "TPU v3", 4),  # as catalogues without the column gpu_vendor wrote it
    ],
)
def test_a_tpu_slice_counts_its_chips(name: str, vendor: str, accelerator: str, chips: int) -> None:
    line = {
        **LINE, "instance_name": name.removeprefix("tpu-"), "location": "us-central1-a", "gpu_count": "1",
        "gpu_name": name, "gpu_memory": "128.0", "gpu_vendor": vendor,
    }  # fmt: skip
    [row] = _rows("gcp", line)
    assert (row.accelerator_name, row.gpu_count) == (accelerator, Decimal(chips))


def test_google_states_zones_and_others_regions() -> None:
    [google] = _rows("gcp", {**LINE, "instance_name": "a3-highgpu-8g", "location": "us-central1-a"})
    assert (google.region, google.zone) == ("us-central1", "us-central1-a")
    [runpod] = _rows("runpod", {**LINE, "location": "EU-RO-1"})
    assert (runpod.region, runpod.zone) == ("EU-RO-1", "")


def test_flags_keep_other_offers_apart() -> None:
    line = {**LINE, "instance_name": "a4-highgpu-8g", "location": "us-central1-b", "gpu_name": "B200"}
    line["gpu_memory"] = "180.0"
    [calendar] = _rows("gcp", {**line, "flags": "gcp-dws-calendar-mode gcp-a4"})
    assert calendar.term == "capacity_block"
    pod = {**LINE, "instance_name": "NVIDIA H100 80GB HBM3"}
    single, cluster = _rows("runpod", pod, {**pod, "price": "30.0", "flags": "runpod-cluster"})
    assert (single.sku, cluster.sku) == ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3 cluster")
    twice = {**LINE, "instance_name": "g4-standard-48", "gpu_count": "1", "gpu_name": "RTXPRO6000"}
    twice |= {"gpu_memory": "96.0", "location": "us-central1-a", "flags": "gcp-g4-preview"}
    assert _read("gcp", twice).by_rule == {"stands_twice": 1}
    [half] = _rows("oci", {**LINE, "instance_name": "BM.GPU.H100.8", "spot": "True", "flags": "oci-spot"})
    assert "half of the on-demand price" in half.reference


def test_an_older_layout_without_the_later_columns_is_read() -> None:
    columns = list(gpuhunt_catalogue.COLUMNS)
    text = ",".join(columns) + "\n" + ",".join(LINE[column] for column in columns) + "\n"
    reading = read_text("gpuhunt_catalogue", text, "aws.csv")
    assert (len(reading.rows), reading.by_rule) == (1, {})


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"gpu_count": "eight"}, "item_unreadable"),
        ({"spot": "maybe"}, "item_unreadable"),
        ({"gpu_vendor": "cerebras"}, "item_unreadable"),
        ({"provider_data": "{"}, "item_unreadable"),
        ({"provider_data": "[" * 5000}, "item_unreadable"),
        ({"price": ""}, "item_unreadable"),
        ({"price": "nan"}, "not_a_number"),
        ({"price": "1_0"}, "not_a_number"),
        ({"price": "-1"}, "negative_price"),
        ({"gpu_name": ""}, "empty"),
        ({"gpu_vendor": "google", "gpu_name": "v99-8"}, "tpu_unknown"),
        ({"gpu_vendor": "google", "gpu_name": "v5litepod-4096"}, "tpu_slice_too_large"),
        ({"location": ""}, "item_unreadable"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused_by_name(change: dict[str, str], rule: str) -> None:
    assert _read("gcp", {**LINE, **change}).by_rule == {rule: 1}


@pytest.mark.parametrize(
    ("name", "params", "provider"),
    [
        ("runpod.csv", {}, "runpod"),
        ("gpuhunt_verda_2026-11-30.csv.gz", {}, "verda"),
        ("prices.csv", {"provider": "OCI"}, "oci"),
        ("verda.csv", {"provider": "runpod,verda"}, "verda"),  # a piece of a fetch for two
        ("vastai.csv", {}, "vastai"),
    ],
)
def test_a_file_says_whose_it_is(name: str, params: dict[str, str], provider: str) -> None:
    assert gpuhunt_catalogue.provider_of(name, params) == provider


@pytest.mark.parametrize(
    ("name", "params"),
    [("prices.csv", {}), ("a.csv", {"provider": "acme"}), ("a.csv", {"provider": "aws,oci"})],
)
def test_a_file_of_nobody_is_refused(name: str, params: dict[str, str]) -> None:
    with pytest.raises(FileError, match="provider_unknown"):
        gpuhunt_catalogue.provider_of(name, params)


def test_sellers_have_one_name_in_all_sources() -> None:
    assert _rows("lambdalabs", {**LINE, "instance_name": "gpu_8x_h100_sxm5"})[0].provider == "lambda"
    assert _rows("vastai", {**LINE, "instance_name": "8x-H100"})[0].provider == "vast"


def test_an_upload_is_recognised_by_its_columns() -> None:
    assert gpuhunt_catalogue.looks_like(_csv(LINE), "anything.csv")
    assert not gpuhunt_catalogue.looks_like("InstanceType,AcceleratorName,Price,Region\n", "aws.csv")


@pytest.fixture
def store(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return a server in the place of the library's store."""
    monkeypatch.setattr(gpuhunt_archive, "ADDRESS", feed.origin)
    return feed


def _fetched(params: dict[str, str]) -> dict[str, bytes]:
    return {name: b"".join(chunks) for name, chunks in gpuhunt_catalogue.fetch(params, NOW)}


def test_a_fetch_asks_for_the_newest_version_and_unpacks_it(store: Feed) -> None:
    store.play("/verda/version", Answer(text="20261130-77\n"))
    store.play("/verda/20261130-77/catalog.zip", Answer(body=_zip({"verda.csv": _csv(LINE)})))
    assert _fetched({"provider": "verda"}) == {"verda.csv": _csv(LINE).encode()}
    assert store.paths() == ["/verda/version", "/verda/20261130-77/catalog.zip"]


def test_a_piece_is_asked_for_only_when_it_is_read(store: Feed) -> None:
    names = [name for name, _ in gpuhunt_catalogue.fetch({}, NOW)]
    assert names == [f"{provider}.csv" for provider in gpuhunt_archive.PUBLISHED]
    assert names == [name for name, _ in gpuhunt_catalogue.fetch({}, NOW)]
    assert store.requests == []


def test_passing_trouble_is_waited_out(store: Feed) -> None:
    body = Answer(body=_zip({"oci.csv": _csv(LINE)}))
    store.play(
        "/oci/version", Answer(429, headers={"Retry-After": "0"}), Answer(500), CLOSE, Answer(text="1")
    )
    store.play("/oci/1/catalog.zip", Answer(503), CLOSE, body)
    assert _fetched({"provider": "oci"}) == {"oci.csv": _csv(LINE).encode()}


def test_an_archive_that_is_cut_short_gives_no_file(store: Feed) -> None:
    whole = _zip({"oci.csv": _csv(*[LINE] * 50)})
    store.play("/oci/version", Answer(text="1"))
    store.play("/oci/1/catalog.zip", Answer(body=whole, cut_after=len(whole) // 2))
    with pytest.raises(egress.HttpError):
        _fetched({"provider": "oci"})


@pytest.mark.parametrize("status", [403, 404])
def test_a_provider_without_a_catalogue_is_named(store: Feed, status: int) -> None:
    store.play("/aws/version", Answer(status, text="<Error><Code>AccessDenied</Code></Error>"))
    with pytest.raises(FileError, match="not_published") as caught:
        _fetched({"provider": "aws"})
    assert "aws" in caught.value.expected


@pytest.mark.parametrize("text", ["", "../../secret", "<html>", "a b", "\u2028", "x" * 80])
def test_a_version_that_is_none_asks_for_nothing_more(store: Feed, text: str) -> None:
    store.play("/aws/version", Answer(text=text))
    with pytest.raises(FileError, match="version_unreadable"):
        _fetched({"provider": "aws"})
    assert store.paths() == ["/aws/version"]


@pytest.mark.parametrize("provider", ["acme", "vultr", "aws,acme"])
def test_only_published_catalogues_can_be_asked_for(provider: str) -> None:
    with pytest.raises(FileError, match="provider_unknown"):
        list(gpuhunt_catalogue.fetch({"provider": provider}, NOW))


def _broken_crc() -> bytes:
    whole = bytearray(_zip({"aws.csv": "a" * 1000}))
    at = whole.index(b"PK\x01\x02") + 16  # the check sum in the list of contents
    whole[at] ^= 0xFF
    return bytes(whole)


@pytest.mark.parametrize(
    ("archive", "code"),
    [
        (lambda: _zip({"gcp.csv": "x"}), "zip_members"),
        (lambda: _zip({"../aws.csv": "x"}), "zip_members"),
        (lambda: _zip({f"{n}.csv": "x" for n in range(40)} | {"aws.csv": "x"}), "zip_members"),
        (lambda: _zip({"aws.csv": "0" * (4 << 20)}), "zip_ratio"),
        (lambda: _zip({"aws.csv": "x"})[:-8], "zip_broken"),
        (lambda: b"<Error>no zip</Error>", "zip_broken"),
        (_broken_crc, "zip_broken"),
    ],
)
def test_an_archive_that_is_not_what_it_should_be_is_refused(archive: Callable[[], bytes], code: str) -> None:
    with pytest.raises(FileError, match=code):
        list(member_of(io.BytesIO(archive()), "aws.csv"))


def test_an_archive_whose_file_is_too_large_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(FileError, match="file_too_large"):
        list(member_of(io.BytesIO(_zip({"aws.csv": "x" * 100})), "aws.csv", Limits(total_bytes=99)))
