"""Constants and conversions: the only place of the model with a factor in it."""

from planner.core.ranges import AT_LEAST_0, AT_LEAST_1, COUNT_FROM_1, SHARE, refuse, takes

HOURS_PER_DAY = 24
DAYS_PER_WEEK = 7
HOURS_PER_WEEK = 168
MONTHS_PER_YEAR = 12
DAYS_PER_YEAR = 365
# Planning hours. Billing and evaluate() take the real hours of each month (672 to 744).
HOURS_PER_YEAR = 8760
HOURS_PER_MONTH = 730
WATTS_PER_KW = 1000
GRAMS_PER_TONNE = 1_000_000
SECONDS_PER_HOUR = 3600
SECONDS_PER_DAY = 86_400
SECONDS_PER_MINUTE = 60
MINUTES_PER_HOUR = 60
FLOPS_PER_TFLOP = 1e12
FLOPS_PER_PETAFLOP = 1e15
TOKENS_PER_MILLION = 1_000_000
BYTES_PER_GB = 10**9
BYTES_PER_GIB = 2**30  # 7.4 % more than a GB
BITS_PER_BYTE = 8


@takes(idle_kw=AT_LEAST_0, max_kw=AT_LEAST_0, load_share=SHARE)
def average_kw(idle_kw: float, max_kw: float, load_share: float) -> float:
    """Return the average IT power of one server: idle + (max - idle) * load.

    `load_share` is GPU-hours used / GPU-hours available. Raises ValueError where idle is more than maximum.

    >>> average_kw(1.5, 9.0, 0.65)
    6.375
    """
    if idle_kw > max_kw:
        refuse("idle_kw", idle_kw, f"at most max_kw, {max_kw:g}")
    return idle_kw + (max_kw - idle_kw) * load_share


@takes(it_kw=AT_LEAST_0, hours=AT_LEAST_0, pue=AT_LEAST_1)
def facility_kwh(it_kw: float, hours: float, pue: float) -> float:
    """Return the energy drawn from the grid: IT power * hours * PUE.

    >>> facility_kwh(10.0, 100.0, 1.5)
    1500.0
    """
    return it_kw * hours * pue


@takes(gpu_hours=AT_LEAST_0, watts_per_gpu=AT_LEAST_0, pue=AT_LEAST_1)
def gpu_energy_kwh(gpu_hours: float, watts_per_gpu: float, pue: float = 1.0) -> float:
    """Return the energy of GPU-hours at a fixed power per GPU; an upper estimate when given the TDP.

    CPUs, fans and network are not in it. Source of the example: Luccioni, Viguier, Ligozat 2022 (BLOOM).

    >>> gpu_energy_kwh(1_082_990.0, 400.0)
    433196.0
    """
    return facility_kwh(watts_per_gpu / WATTS_PER_KW, gpu_hours, pue)


@takes(kwh=AT_LEAST_0, grams_co2e_per_kwh=AT_LEAST_0)
def emitted_tonnes(kwh: float, grams_co2e_per_kwh: float) -> float:
    """Return tonnes of CO2e: energy * grid intensity.

    >>> round(emitted_tonnes(433_196.0, 57.0), 2)
    24.69
    """
    return kwh * grams_co2e_per_kwh / GRAMS_PER_TONNE


@takes(gpus=AT_LEAST_0, gpus_per_instance=COUNT_FROM_1)
def whole_instances_down(gpus: float, gpus_per_instance: int) -> float:
    """Return the GPUs of the whole instances that fit: floor(gpus / size) * size.

    >>> whole_instances_down(20, 8)
    16.0
    """
    return float(int(gpus / gpus_per_instance + 1e-9) * gpus_per_instance)
