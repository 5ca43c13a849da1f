"""What AWS calls things: which accelerator an instance family holds, and regions by their old names."""

from .machines import machine_of

# Instance families, as a price list writes them, that hold what we price. FPGA and media accelerators
# (f1, f2, vt1) are other families and stay out.
ACCELERATED_FAMILIES = ("GPU instance", "Machine Learning ASIC Instances")

# Price lists name no accelerator. Names as SkyPilot's AWS catalogue writes them, so that both sources speak
# of one SKU. https://aws.amazon.com/ec2/instance-types/accelerated-computing/
ACCELERATOR_BY_FAMILY = {
    "g2": "GRID K520",
    "g3": "M60",
    "g3s": "M60",
    "g4ad": "Radeon Pro V520",
    "g4dn": "T4",
    "g5": "A10G",
    "g5g": "T4G",
    "g6": "L4",
    "g6e": "L40S",
    "g6f": "L4",
    "gr6": "L4",
    "gr6f": "L4",
    "g7": "RTX PRO 4500",
    "g7e": "RTX PRO 6000",
    "p2": "K80",
    "p3": "V100",
    "p3dn": "V100-32GB",
    "p4d": "A100",
    "p4de": "A100-80GB",
    "p5": "H100",
    "p5e": "H200",
    "p5en": "H200",
    "p6-b200": "B200",
    "p6-b300": "B300",
    "p6e-gb200": "GB200",
    "u-p6e-gb200x36": "GB200",
    "u-p6e-gb200x72": "GB200",
    "dl1": "Gaudi HL-205",
    "dl2q": "Qualcomm AI 100",
    "inf1": "Inferentia",
    "inf2": "Inferentia2",
    "trn1": "Trainium",
    "trn1n": "Trainium",
    "trn2": "Trainium2",
    "trn2u": "Trainium2",
    "trn3": "Trainium3",
}


# price lists before 2021 give a location without its code
REGION_BY_LOCATION = {
    "US East (N. Virginia)": "us-east-1",
    "US East (Ohio)": "us-east-2",
    "US West (N. California)": "us-west-1",
    "US West (Oregon)": "us-west-2",
    "AWS GovCloud (US)": "us-gov-west-1",
    "AWS GovCloud (US-West)": "us-gov-west-1",
    "AWS GovCloud (US-East)": "us-gov-east-1",
    "Canada (Central)": "ca-central-1",
    "South America (Sao Paulo)": "sa-east-1",
    "EU (Ireland)": "eu-west-1",
    "EU (London)": "eu-west-2",
    "EU (Paris)": "eu-west-3",
    "EU (Frankfurt)": "eu-central-1",
    "EU (Stockholm)": "eu-north-1",
    "EU (Milan)": "eu-south-1",
    "Europe (Ireland)": "eu-west-1",
    "Europe (Frankfurt)": "eu-central-1",
    "Middle East (Bahrain)": "me-south-1",
    "Africa (Cape Town)": "af-south-1",
    "Asia Pacific (Hong Kong)": "ap-east-1",
    "Asia Pacific (Mumbai)": "ap-south-1",
    "Asia Pacific (Singapore)": "ap-southeast-1",
    "Asia Pacific (Sydney)": "ap-southeast-2",
    "Asia Pacific (Jakarta)": "ap-southeast-3",
    "Asia Pacific (Tokyo)": "ap-northeast-1",
    "Asia Pacific (Seoul)": "ap-northeast-2",
    "Asia Pacific (Osaka)": "ap-northeast-3",
    "China (Beijing)": "cn-north-1",
    "China (Ningxia)": "cn-northwest-1",
}


def family_of(machine: str) -> str:
    """Return the family of a machine type.

    >>> family_of("p6-b200.48xlarge")
    'p6-b200'
    """
    return machine.partition(".")[0]


def accelerator_of(machine: str) -> str | None:
    """Return the name of what a machine type holds, None where no table knows it."""
    known = ACCELERATOR_BY_FAMILY.get(family_of(machine))
    if known is None and (found := machine_of("aws", machine)):
        return found.accelerator_name
    return known


def holds_accelerators(machine: str) -> bool:
    """Tell whether a machine type is known to hold accelerators that we price."""
    return accelerator_of(machine) is not None
