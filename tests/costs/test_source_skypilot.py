"""State how each oddity of the SkyPilot catalogues is read. Rows are ours, in the clouds' real formats."""

from decimal import Decimal

import pytest

from costs.rows import FileError, PriceRow
from costs.sources.skypilot import TEMPLATE, provider_of

from .readings import Reading, packed, read_bytes, read_text

SHORT = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region"
AWS = SHORT + ",AvailabilityZone,Arch"
AZURE = SHORT + ",Generation"
GCP = (
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,"
    "Price,SpotPrice"
)
VERDA = (
    "InstanceType,UpstreamCloudId,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,"
    "Price,SpotPrice"
)


def catalogue(provider: str, header: str, *lines: str, end: str = "\n") -> Reading:
    return read_text("skypilot", end.join([header, *lines, ""]), f"skypilot_{provider}_2026-05-20.csv")


def facts(reading: Reading) -> list[tuple[str, str, str, str | None]]:
    """Return SKU, term, state and price of each row."""
    found = []
    for row in reading.rows:
        assert isinstance(row, PriceRow)
        price = None if row.price_per_hour is None else f"{row.price_per_hour.normalize():f}"
        found.append((row.sku, row.term, row.state, price))
    return found


def only_rule(reading: Reading) -> str:
    ((rule, count),) = reading.by_rule.items()
    assert count == 1
    return rule


# --- which cloud ---


@pytest.mark.parametrize(
    ("name", "params", "provider"),
    [
        ("skypilot_aws_p4-p6_v8.csv", {}, "aws"),
        ("skypilot_do_v6.csv.gz", {}, "digitalocean"),
        ("catalogs/v8/verda/vms.csv", {}, "verda"),
        ("C:\\files\\runpod\\vms.csv", {}, "runpod"),
        ("Lambda.csv", {}, "lambda"),
        ("prices.csv", {"provider": "MyCloud"}, "mycloud"),
        ("skypilot_aws.csv", {"provider": "other"}, "other"),
    ],
)
def test_the_provider_comes_from_the_parameter_or_the_name(
    name: str, params: dict[str, str], provider: str
) -> None:
    assert provider_of(name, params) == provider


@pytest.mark.parametrize(
    "name", ["prices.csv", "vms.csv", "skypilot.csv", "skypilot_unheard_v8.csv", "upload"]
)
def test_a_name_without_a_known_cloud_asks_for_the_parameter(name: str) -> None:
    with pytest.raises(FileError) as caught:
        provider_of(name, {})
    assert caught.value.code == "provider_unknown"
    assert "provider" in caught.value.expected


def test_a_provider_with_odd_letters_is_refused() -> None:
    with pytest.raises(FileError, match="provider_wrong"):
        provider_of("a.csv", {"provider": "../etc"})


def test_the_date_of_the_name_is_the_date_of_the_file() -> None:
    reading = catalogue("nebius", SHORT, "gpu-h100,H100,1,16,200,,2.95,1.25,eu-north1")
    assert reading.info.as_of is not None
    assert reading.info.as_of.isoformat() == "2026-05-20T00:00:00+00:00"
    assert reading.scopes == {"nebius"}


# --- one line, two prices ---


def test_a_line_gives_its_on_demand_and_its_spot_price() -> None:
    reading = catalogue(
        "aws", AWS, "p5.48xlarge,H100,8.0,192.0,2048.0,,55.04,19.253100,us-east-1,use1-az2,x86_64"
    )
    assert facts(reading) == [
        ("p5.48xlarge", "on_demand", "priced", "55.04"),
        ("p5.48xlarge", "spot", "priced", "19.2531"),
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.accelerator_name, row.gpu_count) == ("aws", "H100", 8)
    assert (row.region, row.zone, row.currency) == ("us-east-1", "use1-az2", "USD")
    assert (row.vcpus, row.memory_gib) == (192, 2048)


def test_a_blank_spot_price_means_that_spot_is_not_offered() -> None:
    reading = catalogue("lambda", SHORT, "gpu_8x_h100_sxm5,H100,8.0,208.0,1800.0,,23.92,,us-east-1")
    assert facts(reading)[1] == ("gpu_8x_h100_sxm5", "spot", "not_sold", None)
    assert reading.rows[1].state_reason


def test_spot_equal_to_on_demand_is_a_price() -> None:
    reading = catalogue(
        "aws", AWS, "p5.48xlarge,H100,8.0,192.0,2048.0,,55.04,55.040000,us-east-1,use1-az1,x86_64"
    )
    assert [price for *_, price in facts(reading)] == ["55.04", "55.04"]


def test_p5e_without_on_demand_price_is_reservation_only_by_name() -> None:
    reading = catalogue(
        "aws",
        AWS,
        "p5e.48xlarge,H200,8.0,192.0,2048.0,,,19.425400,ap-southeast-3,apse3-az1,x86_64",
        "p5e.48xlarge,H200,8.0,192.0,2048.0,,,,eu-north-1,eun1-az1,x86_64",
    )
    assert [fact[1:] for fact in facts(reading)] == [
        ("on_demand", "reservation_only", None),
        ("spot", "priced", "19.4254"),
        ("on_demand", "reservation_only", None),
        ("spot", "not_sold", None),
    ]
    assert "Capacity Blocks" in reading.rows[0].state_reason


def test_a_blank_on_demand_price_elsewhere_is_not_sold() -> None:
    line = '2B300.60V,2B300.60V,60.0,550.0,B300,2.0,"{""Gpus"": []}",FIN-03,,4.893'
    reading = catalogue("verda", VERDA, line, end="\r\n")  # CRLF, other order, an extra column, JSON
    assert facts(reading) == [
        ("2B300.60V", "on_demand", "not_sold", None),
        ("2B300.60V", "spot", "priced", "4.893"),
    ]


def test_vast_names_the_card_in_the_type_and_shortens_it_beside() -> None:
    reading = catalogue("vast", SHORT, '2x-A100_PCIE-32-65536,A100,2,32,64.0,,2.35,0.00,"Ohio, US, NA"')
    assert {row.accelerator_name for row in reading.rows} == {"A100_PCIE"}


def test_vast_states_zero_for_a_spot_price_that_it_does_not_know() -> None:
    reading = catalogue("vast", SHORT, '1x-H200-32-65536,H200,1,32,64.0,,2.35,0.00,", CA, NA"')
    assert [fact[1:] for fact in facts(reading)] == [
        ("on_demand", "priced", "2.35"),
        ("spot", "unknown", None),
    ]
    row = reading.rows[1]
    assert isinstance(row, PriceRow)
    assert "0.00" in row.state_reason
    assert row.region == "CA, NA", "the empty part of the place is dropped"


def test_a_zero_spot_price_of_any_other_cloud_is_an_error() -> None:
    reading = catalogue("nebius", SHORT, "gpu-h100,H100,1,16,200,,2.95,0.00,eu-north1")
    assert only_rule(reading) == "zero_price"
    assert reading.wrong[2].column == "SpotPrice"


# --- which accelerator ---


@pytest.mark.parametrize(
    ("provider", "line"),
    [
        ("nebius", "cpu-d3_4vcpu-16gb,,0,4,16,,0.0992,,eu-north1"),
        ("do", "g-2vcpu-8gb,,,2,8.0,,0.09375,,nyc1"),
    ],
)
def test_a_machine_without_accelerator_is_out_of_scope(provider: str, line: str) -> None:
    reading = catalogue(provider, SHORT, line)
    assert only_rule(reading) == "no_accelerator"
    assert reading.out_of_scope[2].expected


@pytest.mark.parametrize(
    "info",
    [
        "\"{'Gpus': [{'Name': 'H100', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 81920}}]}\"",  # a Python dict
        "\"{'Gpus': [{'Name': 'H100', 'Manufacturer': null, 'Count': 8}]}\"",  # neither Python nor JSON
        '"{""Gpus"": [{""Name"": ""H100"", ""Count"": 8}]}"',  # JSON
        "\"{'gpus': [{'name': 'H100', 'count': 8.0}]}\"",  # small letters
    ],
)
def test_gpu_info_is_read_where_name_and_count_are_empty(info: str) -> None:
    reading = catalogue("do", SHORT, f"gpu-h100x8-640gb,,,160,1920.0,{info},47.60,,tor1")
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.accelerator_name, row.gpu_count) == ("H100", 8)


def test_name_and_count_win_over_gpu_info() -> None:
    # RunPod writes gigabytes under a MiB name; Nebius 0; neither is looked at
    info = "\"{'Gpus': [{'Name': 'A100 PCIe', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 80}}]}\""
    reading = catalogue("runpod", SHORT, f"1x_A100-80GB_SECURE,A100-80GB,1.0,8.0,117.0,{info},1.39,1.39,IN")
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.accelerator_name, row.gpu_count) == ("A100-80GB", 1)


def test_a_gpu_info_that_names_nothing_is_refused() -> None:
    reading = catalogue("do", SHORT, "gpu,,,1,1,???,47.60,,tor1")
    assert only_rule(reading) == "accelerator_unreadable"


@pytest.mark.parametrize("count", ["0", "-1", "2000", "eight"])
def test_an_impossible_count_is_refused(count: str) -> None:
    reading = catalogue("nebius", SHORT, f"gpu,H100,{count},16,200,,2.95,,eu-north1")
    assert only_rule(reading) in ("gpu_count_out_of_bounds", "not_a_number")


# --- Azure ---


def test_ragged_azure_lines_are_read_and_the_eight_gpu_machine_has_eight() -> None:
    reading = catalogue(
        "azure",
        AZURE,
        "Standard_ND96isr_H100_v5,H100,8,96,1900,H100,98.32,18.169536,eastus,V2",
        "Standard_NC24ads_A100_v4,A100-80GB,1,24,220,A100-80GB,3.673,0.746721,eastus,V1,V2",  # unquoted comma
    )
    assert reading.by_rule == {}
    counts = [row.gpu_count for row in reading.rows if isinstance(row, PriceRow)]
    assert counts == [8, 8, 1, 1]


@pytest.mark.parametrize("tail", ["V1,V2,V3", "V1,Windows", "", "V1,"])
def test_other_raggedness_is_refused(tail: str) -> None:
    line = "Standard_NC24ads_A100_v4,A100-80GB,1,24,220,A100-80GB,3.673,0.746721,eastus"
    reading = catalogue("azure", AZURE, f"{line},{tail}" if tail else line)
    assert only_rule(reading) == "field_count"


@pytest.mark.parametrize(
    ("machine", "count"), [("NV6ads", "0.167"), ("NV12ads", "0.333"), ("NV18ads", "0.5")]
)
def test_fractions_of_an_a10_are_kept(machine: str, count: str) -> None:
    reading = catalogue(
        "azure", AZURE, f"Standard_{machine}_A10_v5,A10,{count},6,55,A10,0.454,0.08,eastus,V2"
    )
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert row.gpu_count == Decimal(count)


def test_a_part_of_an_mi25_is_not_a_whole_one() -> None:
    reading = catalogue("azure", AZURE, "Standard_NV8as_v4,MI25,1,8,28,MI25,0.466,0.09,eastus,V1")
    assert only_rule(reading) == "gpu_count_wrong"
    assert reading.out_of_scope[2].expected.startswith("0.25")


# --- Google Cloud ---

HOST = "a2-highgpu-8g,96.0,680.0,,,,us-central1,us-central1-a,5.91582,2.958"
GPUS = ",,,A100,8,,us-central1,us-central1-a,23.47126,11.4728"


@pytest.mark.parametrize("lines", [(HOST, GPUS), (GPUS, HOST)], ids=["host first", "host last"])
def test_a_google_machine_costs_gpus_plus_host(lines: tuple[str, str]) -> None:
    reading = catalogue("gcp", GCP, *lines)
    assert facts(reading) == [
        ("a2-highgpu-8g", "on_demand", "priced", str(Decimal("23.47126") + Decimal("5.91582"))),
        ("a2-highgpu-8g", "spot", "priced", str(Decimal("11.4728") + Decimal("2.958"))),
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.gpu_count, row.zone, row.vcpus, row.memory_gib) == (8, "us-central1-a", 96, 680)
    assert reading.by_rule == {"host_without_gpu": 1}, "the host's line gives no price of its own"


def test_gpus_that_fit_several_hosts_give_several_machines() -> None:
    reading = catalogue(
        "gcp",
        GCP,
        "g2-standard-4,4.0,16.0,,,,us-central1,us-central1-a,0.14679,0.06168",
        "g2-standard-8,8.0,32.0,,,,us-central1,us-central1-a,0.29358,0.12336",
        ",,,L4,1,,us-central1,us-central1-a,0.56004,0.2343",
    )
    on_demand = {sku: price for sku, term, _, price in facts(reading) if term == "on_demand"}
    assert on_demand == {"g2-standard-4": "0.70683", "g2-standard-8": "0.85362"}


@pytest.mark.parametrize(
    "host",
    [
        "a2-highgpu-8g,96.0,680.0,,,,us-central1,us-central1-b,5.91582,2.958",
        "c2-standard-16,16,64,,,,r,r-a,0.8,0.2",
    ],
    ids=["another zone", "another machine"],
)
def test_gpus_without_their_host_are_refused_not_sold_at_half_the_price(host: str) -> None:
    reading = catalogue("gcp", GCP, host, GPUS)
    assert reading.rows == []
    error = reading.out_of_scope[3]
    assert error.rule == "host_price_missing"
    assert "a2-highgpu-8g in us-central1-a" in error.expected


def test_a_host_at_zero_makes_the_machine_unknown_not_cheap() -> None:
    reading = catalogue(
        "gcp",
        GCP,
        "a4-highgpu-8g,224.0,3968.0,,,,us-central1,us-central1-b,0.0,0.0",
        ",,,B200,8,,us-central1,us-central1-b,90.216,34.2368",
    )
    assert [fact[2:] for fact in facts(reading)] == [("unknown", None), ("unknown", None)]
    assert "a4-highgpu-8g" in reading.rows[0].state_reason
    assert reading.by_rule == {"host_price_zero": 1}


@pytest.mark.parametrize("text", ["NaN", "-1", "1e400"])
def test_a_host_whose_price_is_none_is_wrong_and_so_is_its_machine(text: str) -> None:
    reading = catalogue("gcp", GCP, HOST.replace("5.91582", text), GPUS)
    assert (reading.rows, set(reading.wrong)) == ([], {2, 3})


def test_gpus_with_spot_on_a_host_without_spot_have_no_known_spot_price() -> None:
    reading = catalogue("gcp", GCP, "a2-highgpu-8g,96.0,680.0,,,,us-central1,us-central1-a,5.91582,", GPUS)
    assert [fact[2] for fact in facts(reading)] == ["priced", "unknown"]


def test_gpus_without_spot_are_not_offered_as_spot() -> None:
    reading = catalogue("gcp", GCP, HOST, ",,,A100,8,,us-central1,us-central1-a,23.47126,")
    assert [fact[2] for fact in facts(reading)] == ["priced", "not_sold"]


def test_a_host_with_two_prices_makes_the_machine_unknown() -> None:
    reading = catalogue("gcp", GCP, HOST, HOST.replace("5.91582", "6"), GPUS)
    assert {fact[2] for fact in facts(reading)} == {"unknown"}
    assert "two prices" in reading.rows[0].state_reason


def test_gpus_for_n1_machines_are_named_as_gpus_only() -> None:
    reading = catalogue("gcp", GCP, ",,,T4,2,,us-central1,us-central1-a,0.7,0.28")
    assert facts(reading)[0] == ("N1 + 2x T4 (GPU only)", "on_demand", "priced", "0.7")


def test_a_count_of_gpus_that_no_machine_holds_is_refused() -> None:
    reading = catalogue("gcp", GCP, HOST, ",,,A100,3,,us-central1,us-central1-a,8.8,4.3")
    assert reading.wrong[3].rule == "host_unknown"


@pytest.mark.parametrize(
    ("name", "part", "chips"),
    [
        ("tpu-v5litepod-8", "TPU v5e", 8),
        ("tpu-v6e-8", "TPU v6e", 8),
        ("tpu-v5p-8", "TPU v5p", 4),  # the number counts cores, two in a chip
        ("tpu-v4-8", "TPU v4", 4),
    ],
)
def test_a_tpu_slice_is_counted_in_chips(name: str, part: str, chips: int) -> None:
    reading = catalogue("gcp", GCP, f",,,{name},1,{name},us-central1,us-central1-a,9.6,2.05738")
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.sku, row.accelerator_name, row.gpu_count) == (name, part, chips)


def test_700_for_a_tpu_v6e_is_the_catalogues_placeholder() -> None:
    reading = catalogue(
        "gcp", GCP, ",,,tpu-v6e-8,1,tpu-v6e-8,southamerica-west1,southamerica-west1-a,21.6,700.0"
    )
    assert [fact[2:] for fact in facts(reading)] == [("priced", "21.6"), ("unknown", None)]
    assert "placeholder" in reading.rows[1].state_reason


def test_tpus_that_are_unknown_or_too_many_are_not_taken() -> None:
    reading = catalogue("gcp", GCP, ",,,tpu-v9x-8,1,,r,r-a,9.6,2", ",,,tpu-v5p-12288,1,,r,r-a,25804,9000")
    assert reading.by_rule == {"tpu_unknown": 1, "tpu_slice_too_large": 1}


def test_machines_of_other_clouds_are_not_added_up() -> None:
    reading = catalogue("aws", GCP, HOST, GPUS)
    assert reading.by_rule == {"no_accelerator": 1, "empty": 1}


# --- lines about the same offer ---


def test_a_repeated_line_is_set_aside_by_name() -> None:
    line = "gpu-h100,H100,1,16,200,,2.95,1.25,eu-north1"
    reading = catalogue("nebius", SHORT, line, line, line.replace(",1,", ",1.0,"))
    assert len(reading.kept) == 1
    assert reading.by_rule == {"duplicate_line": 2}
    assert "line 2" in reading.out_of_scope[3].expected


def test_two_prices_of_a_cloud_for_one_offer_are_both_refused() -> None:
    reading = catalogue(
        "nebius",
        SHORT,
        "gpu-h100,H100,1,16,200,,2.95,1.25,eu-north1",
        "gpu-h100,H100,1,16,200,,3.95,1.25,eu-north1",
        "gpu-h200,H200,1,16,200,,3.50,1.45,eu-north1",
    )
    assert reading.by_rule == {"two_prices_for_one_offer": 2}
    assert {fact[0] for fact in facts(reading)} == {"gpu-h200"}


@pytest.mark.parametrize(
    "prices", [("2.35", "2.10", "2.99"), ("2.10", "2.35", "2.99"), ("2.99", "2.35", "2.10")]
)
def test_of_many_hosts_on_a_marketplace_the_cheapest_is_the_price(prices: tuple[str, ...]) -> None:
    lines = [f'1x-H200-32-65536,H200,1,32,64.0,,{price},0.00,"France, FR, EU"' for price in prices]
    reading = catalogue("vast", SHORT, *lines)
    assert facts(reading)[0][3] == "2.1"
    assert reading.by_rule == {"cheaper_offer_listed": 2}
    for line, error in reading.out_of_scope.items():
        named = int(error.expected.split()[1])
        assert Decimal(prices[named - 2]) < Decimal(prices[line - 2]), "names a line that is cheaper"


def test_an_unreadable_price_on_a_marketplace_is_never_the_cheapest() -> None:
    lines = [f'1x-H200,H200,1,32,64.0,,{price},0.00,"France, FR, EU"' for price in ("-1", "2.10")]
    reading = catalogue("vast", SHORT, *lines)
    assert facts(reading)[0][3] == "2.1"


# --- wrong values ---


@pytest.mark.parametrize(
    "price", ["NaN", "-5", "0", "1e400", "1_000", "１２", '"1.234,56"', '"1,234.56"', "1e308", "inf"]
)
def test_a_wrong_price_is_refused_with_line_column_and_value(price: str) -> None:
    reading = catalogue("nebius", SHORT, "a,H100,1,1,1,,2.95,,r", f"b,H100,1,1,1,,{price},,r")
    assert len(reading.kept) == 1
    ((line, error),) = reading.wrong.items()
    assert (line, error.column, error.value) == (3, "Price", price.strip('"'))
    assert error.expected


@pytest.mark.parametrize("column", ["vCPUs", "MemoryGiB"])
def test_a_wrong_size_is_refused(column: str) -> None:
    values = {"vCPUs": "16", "MemoryGiB": "200", column: "lots"}
    reading = catalogue("nebius", SHORT, f"a,H100,1,{values['vCPUs']},{values['MemoryGiB']},,2.95,,r")
    assert reading.wrong[2].column == column


def test_a_catalogue_without_its_columns_is_refused_as_a_whole() -> None:
    with pytest.raises(FileError, match="columns_missing"):
        catalogue("aws", "InstanceType,Price", "p5.48xlarge,55.04")


def test_a_column_cannot_forge_what_the_survey_finds() -> None:
    header = SHORT + ",verdict,(verdict)"
    reading = catalogue("nebius", header, "a,H100,1,1,1,,2.95,,r,duplicate_line|1,duplicate_line|1")
    assert len(reading.kept) == 1


def test_a_packed_catalogue_is_read_twice_like_any_other() -> None:
    text = "\n".join([GCP, HOST, GPUS, ""])
    assert len(read_bytes("skypilot", packed(text), "skypilot_gcp.csv.gz").rows) == 2


def test_the_template_reads() -> None:
    reading = read_text("skypilot", TEMPLATE, "example.csv", {"provider": "example"})
    assert (len(reading.kept), reading.by_rule) == (1, {})
