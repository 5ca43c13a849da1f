"""Write price lists of any size in AWS's two bulk layouts, for benchmarks: mostly machines without GPUs.

Products and their shares follow the real list: per machine type a product for each operating system,
tenancy and use of capacity, in the order of their SKUs, of which one in a dozen is of a machine with
accelerators. Products that can be reserved have twenty lines of terms. Prices are made up.
"""

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parent.parent / "tests" / "data" / "aws_bulk_ec2.csv"
TOP = SAMPLE.read_text(encoding="utf-8").splitlines()[:6]
COLUMNS = next(csv.reader([TOP[5]]))
FIRST_OF_PRODUCT = COLUMNS.index("Product Family")
LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
GPUS = (
    ("g4dn.xlarge", 1), ("g5.48xlarge", 8), ("g6.xlarge", 1), ("g6e.12xlarge", 4), ("p4d.24xlarge", 8),
    ("p5.48xlarge", 8), ("p5en.48xlarge", 8),
)  # fmt: skip
CHIPS = (("trn1.32xlarge", 16), ("inf2.48xlarge", 12))
OTHERS = {
    "General purpose": ("m5", "m6i", "m7i", "m7a", "t3", "t4g"),
    "Compute optimized": ("c5", "c6i", "c7g", "c7a", "hpc7a"),
    "Memory optimized": ("r5", "r6i", "r7iz", "x2iedn"),
    "Storage optimized": ("i4i", "d3"),
}
SIZES = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "metal")
REGIONS = (
    ("us-east-1", "US East (N. Virginia)", ""), ("us-west-2", "US West (Oregon)", "USW2-"),
    ("eu-west-1", "EU (Ireland)", "EU-"), ("ap-northeast-1", "Asia Pacific (Tokyo)", "APN1-"),
)  # fmt: skip
SYSTEMS = (
    ("Linux", "NA", "RunInstances"), ("Linux", "SQL Web", "RunInstances:0200"),
    ("Linux", "SQL Std", "RunInstances:0004"), ("Linux", "SQL Ent", "RunInstances:0100"),
    ("RHEL", "NA", "RunInstances:0010"), ("RHEL", "SQL Std", "RunInstances:0014"),
    ("RHEL", "SQL Ent", "RunInstances:0110"), ("SUSE", "NA", "RunInstances:000g"),
    ("Ubuntu Pro", "NA", "RunInstances:0g00"),
    ("Red Hat Enterprise Linux with HA", "NA", "RunInstances:1010"),
    ("Windows", "NA", "RunInstances:0002"), ("Windows", "BYOL", "RunInstances:0800"),
    ("Windows", "SQL Web", "RunInstances:0202"), ("Windows", "SQL Std", "RunInstances:0006"),
    ("Windows", "SQL Ent", "RunInstances:0102"),
)  # fmt: skip
USES = {
    ("Used", "Shared"): "BoxUsage", ("Used", "Dedicated"): "DedicatedUsage",
    ("UnusedCapacityReservation", "Shared"): "UnusedBox",
    ("UnusedCapacityReservation", "Dedicated"): "UnusedDed",
    ("AllocatedCapacityReservation", "Shared"): "Reservation",
    ("AllocatedCapacityReservation", "Dedicated"): "DedicatedRes",
}  # fmt: skip
TERMS = tuple(
    (f"{offering[:4].upper()}{years}{payment[:2].upper()}000", f"{years}yr", payment, offering)
    for offering in ("standard", "convertible")
    for years in (1, 3)
    for payment in ("No Upfront", "Partial Upfront", "All Upfront")
)
# columns to the attributes of the JSON layout, where they are called otherwise
ATTRIBUTES = {
    "serviceCode": "servicecode", "Operating System": "operatingSystem", "vCPU": "vcpu",
    "usageType": "usagetype", "CapacityStatus": "capacitystatus", "MarketOption": "marketoption",
    "Pre Installed S/W": "preInstalledSw", "GPU": "gpu", "GPU Memory": "gpuMemory", "ECU": "ecu",
    "serviceName": "servicename",
}  # fmt: skip

Row = dict[str, str]


def _machine(chance: random.Random) -> tuple[str, str, str]:
    """Return type, family and count of accelerators: seven of a hundred have some."""
    drawn = chance.random()
    if drawn < 0.06:
        name, count = chance.choice(GPUS)
        return name, "GPU instance", str(count)
    if drawn < 0.07:
        name, count = chance.choice(CHIPS)
        return name, "Machine Learning ASIC Instances", str(count)
    family = chance.choice(tuple(OTHERS))
    return f"{chance.choice(OTHERS[family])}.{chance.choice(SIZES)}", family, ""


def _product(chance: random.Random) -> Row:
    name, family, count = _machine(chance)
    code, location, prefix = chance.choice(REGIONS)
    system, software, operation = chance.choice(SYSTEMS)
    (capacity, tenancy), usage = chance.choice(tuple(USES.items()))
    own_licence = software == "BYOL"
    return {
        "Product Family": "Compute Instance (bare metal)" if name.endswith("metal") else "Compute Instance",
        "serviceCode": "AmazonEC2", "Location": location, "Location Type": "AWS Region",
        "Instance Type": name, "Current Generation": "Yes", "Instance Family": family, "vCPU": "96",
        "Physical Processor": "Intel Xeon 8375C (Ice Lake)", "Clock Speed": "3.5 GHz",
        "Memory": "1152 GiB", "Storage": "EBS only", "Network Performance": "Up to 12500 Megabit",
        "Processor Architecture": "64-bit", "Tenancy": tenancy, "Operating System": system,
        "License Model": "Bring your own license" if own_licence else "No License required",
        "usageType": f"{prefix}{usage}:{name}", "operation": operation, "AvailabilityZone": "NA",
        "CapacityStatus": capacity, "ClassicNetworkingSupport": "false",
        "Dedicated EBS Throughput": "Up to 10000 Mbps", "ECU": "NA", "Enhanced Networking Supported": "Yes",
        "GPU": count, "GPU Memory": "80 GB HBM3" if count else "NA", "Intel AVX2 Available": "Yes",
        "Intel AVX Available": "Yes", "Intel Turbo Available": "Yes", "MarketOption": "OnDemand",
        "Normalization Size Factor": "192", "Pre Installed S/W": "NA" if own_licence else software,
        "Processor Features": "Intel AVX; Intel AVX2; Intel AVX512; Intel Turbo", "Region Code": code,
        "serviceName": "Amazon Elastic Compute Cloud", "VPCNetworkingSupport": "true",
    }  # fmt: skip


def _rate(code: str, what: str, unit: str, price: str, kind: str, **more: str) -> Row:
    rate = "6YS6EN2CT7" if unit == "Hrs" else "2TG2D8R56U"
    return {
        "OfferTermCode": code, "RateCode": f"{code}.{rate}", "TermType": kind, "PriceDescription": what,
        "EffectiveDate": "2026-09-01", "Unit": unit, "PricePerUnit": price, "Currency": "USD",
        **({"StartingRange": "0", "EndingRange": "Inf"} if unit == "Hrs" else {}), **more,
    }  # fmt: skip


def _rates(chance: random.Random, product: Row) -> Iterator[Row]:
    price = 0.1 + chance.random() * 50
    name, system = product["Instance Type"], product["Operating System"]
    hourly = 0 if product["CapacityStatus"].startswith("Allocated") else price
    what = f"${hourly:.3f} per On Demand {system} {name} Instance Hour"
    yield _rate("JRTCKXETXF", what, "Hrs", f"{hourly:.10f}", "OnDemand")
    if product["CapacityStatus"] != "Used":
        return
    for code, length, payment, offering in TERMS:
        more = {"LeaseContractLength": length, "PurchaseOption": payment, "OfferingClass": offering}
        due = price * (0.6 if length == "1yr" else 0.4)
        upfront = {"No Upfront": 0.0, "Partial Upfront": 0.5, "All Upfront": 1.0}[payment]
        what = f"{system} (Amazon VPC), {name} reserved instance applied"
        yield _rate(code, what, "Hrs", f"{due * (1 - upfront):.10f}", "Reserved", **more)
        if fee := round(due * upfront * 8_760 * int(length[0])):
            yield _rate(code, "Upfront Fee", "Quantity", str(fee), "Reserved", **more)


def _products(seed: int) -> Iterator[tuple[str, Row, list[Row]]]:
    chance = random.Random(seed)  # noqa: S311 the same list each time
    while True:
        product = _product(chance)
        yield "".join(chance.choices(LETTERS, k=16)), product, list(_rates(chance, product))


def _cells(row: Row, columns: list[str]) -> str:
    return ",".join(f'"{row[name]}"' if row.get(name) else "" for name in columns)


def write_csv(path: Path, size: int) -> None:
    """Write a list of so many bytes as CSV."""
    with path.open("w", encoding="utf-8") as file:
        written = file.write("\n".join(TOP) + "\n")
        for sku, product, rates in _products(1):
            tail = _cells(product, COLUMNS[FIRST_OF_PRODUCT:])
            for rate in rates:
                line = {**rate, "SKU": sku, "RateCode": f"{sku}.{rate['RateCode']}"}
                written += file.write(f"{_cells(line, COLUMNS[:FIRST_OF_PRODUCT])},{tail}\n")
            if written >= size:
                return


def _term(sku: str, rates: list[Row]) -> dict[str, Any]:
    first = rates[0]
    dimensions = {
        f"{sku}.{rate['RateCode']}": {
            "rateCode": f"{sku}.{rate['RateCode']}",
            "description": rate["PriceDescription"],
            **({"beginRange": "0", "endRange": "Inf"} if rate["Unit"] == "Hrs" else {}),
            "unit": rate["Unit"],
            "pricePerUnit": {"USD": rate["PricePerUnit"]},
            "appliesTo": [],
        }
        for rate in rates
    }
    names = ("LeaseContractLength", "OfferingClass", "PurchaseOption")
    return {
        "offerTermCode": first["OfferTermCode"],
        "sku": sku,
        "effectiveDate": "2026-09-01T00:00:00Z",
        "priceDimensions": dimensions,
        "termAttributes": {name: first[name] for name in names if name in first},
    }


def _attribute(column: str) -> str:
    first, *others = column.split()
    return ATTRIBUTES.get(column) or first[0].lower() + first[1:] + "".join(others)


def write_json(path: Path, size: int) -> None:
    """Write a list of about so many bytes as JSON."""
    products: dict[str, Any] = {}
    terms: dict[str, dict[str, Any]] = {"OnDemand": {}, "Reserved": {}}
    written = 0
    for sku, product, rates in _products(2):
        attributes = {_attribute(column): value for column, value in product.items() if value}
        family = attributes.pop("productFamily")
        products[sku] = {"sku": sku, "productFamily": family, "attributes": attributes}
        for kind, by_sku in terms.items():
            by_code: dict[str, list[Row]] = {}
            for rate in rates:
                if rate["TermType"] == kind:
                    by_code.setdefault(rate["OfferTermCode"], []).append(rate)
            if by_code:
                by_sku[sku] = {f"{sku}.{code}": _term(sku, of_code) for code, of_code in by_code.items()}
        written += 1_900 + 640 * len(rates)
        if written >= size:
            break
    about = {
        "formatVersion": "v1.0", "disclaimer": "made up", "offerCode": "AmazonEC2",
        "version": "20260910195514", "publicationDate": "2026-09-10T19:55:14Z",
    }  # fmt: skip
    with path.open("w", encoding="utf-8") as file:
        json.dump({**about, "products": products, "terms": terms}, file, indent=2)
