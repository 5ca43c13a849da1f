"""A made-up fleet of 148 GPUs: hourly use as a scheduler would report it, the same for the same end.

It grows by 1.7 % a month and is busy to about 63 % of what is up: training runs in blocks of 8 GPUs and
queues on weekday afternoons, inference follows the day, notebooks follow office hours. One rack was down
for two days, and for one morning nobody measured how active the GPUs were.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from costs.sources.utilization_csv import COLUMNS

SEED = 20_261_141
DAYS = 183
CLUSTER = "sample-east"
GPU_TYPE = "H100"
GROWTH_PER_MONTH = 0.017
HOURS_PER_MONTH = 365.25 * 24 / 12
# hours before the end
OUTAGE = (65 * 24, 63 * 24)
UNMEASURED = (30 * 24 + 6, 30 * 24)
RACK_GPUS = 32
FULL_SHARE = 0.9

Hours = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """One partition: its size, what it is busy with at the end, and the shape of its week."""

    name: str
    gpus: int
    busy_at_end: float  # mean GPUs wanted in the last week
    weekend: float  # of a weekday
    night: float  # of the peak hour
    peak_hour: float  # UTC
    block: int  # GPUs of one job
    noise: float  # of the mean, hour by hour
    active_share: float


POOLS = (
    Pool("training", 96, 70.5, 0.82, 0.80, 17, 8, 0.09, 0.74),
    Pool("inference", 44, 22.0, 0.72, 0.42, 16, 1, 0.05, 0.47),
    Pool("interactive", 8, 2.0, 0.25, 0.10, 15, 1, 0.22, 0.21),
)
FLEET_GPUS = sum(pool.gpus for pool in POOLS)
ROWS = DAYS * 24 * len(POOLS)


def csv_chunks(end: datetime) -> Iterator[bytes]:
    """Yield the use of the hours before `end` (a full hour) as a file in our own layout, day by day."""
    yield (",".join(COLUMNS) + "\n").encode()
    start = end - timedelta(days=DAYS)
    series = [(pool, _series(pool, start)) for pool in POOLS]
    for day in range(DAYS):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for hour in range(day * 24, day * 24 + 24):
            moment = f"{start + timedelta(hours=hour):%Y-%m-%dT%H:%M:%SZ}"
            for pool, numbers in series:
                writer.writerow([moment, CLUSTER, pool.name, GPU_TYPE, pool.gpus, *_texts(numbers[hour])])
        yield out.getvalue().encode()


def last_full_hour(now: datetime) -> datetime:
    """Return the beginning of the hour that runs."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _texts(numbers: Hours) -> list[str]:
    available, allocated, pending, active = (float(number) for number in numbers)
    share = "" if np.isnan(active) else f"{active:.3f}"
    return [f"{available:.0f}", f"{allocated:.2f}", f"{pending:.0f}", share]


def _series(pool: Pool, start: datetime) -> Hours:
    """Return available, allocated, pending and active share of every hour."""
    hours = DAYS * 24
    generator = np.random.default_rng([SEED, pool.gpus])
    available = _available(pool, hours, generator)
    growth = (1 + GROWTH_PER_MONTH) ** ((np.arange(hours) - hours) / HOURS_PER_MONTH)
    wanted = pool.busy_at_end * growth * _shape(pool, start, hours) * _noise(pool, hours, generator)
    # jobs come and go within the hour: the mean over it is not a whole number of blocks
    partly = generator.uniform(0.0, 0.35, hours) * pool.block
    in_blocks = np.round(wanted / pool.block) * pool.block
    allocated = np.clip(in_blocks - partly + partly.mean(), 0.0, available)
    # jobs wait before the pool is full: the GPUs that are left do not stand in one server
    over = wanted - FULL_SHARE * available
    pending = np.where(over > 0, np.ceil(over / pool.block) * pool.block, 0.0)
    active = np.clip(pool.active_share + generator.normal(0.0, 0.05, hours), 0.02, 0.98)
    active[hours - UNMEASURED[0] : hours - UNMEASURED[1]] = np.nan
    return np.column_stack([available, allocated, pending, active])


def _available(pool: Pool, hours: int, generator: np.random.Generator) -> Hours:
    """Return GPUs that are up: now and then a server is in repair, once a rack was down."""
    down = np.zeros(hours)
    for begin in np.flatnonzero(generator.random(hours) < pool.gpus / 8 / 2000):
        down[begin : begin + int(generator.integers(6, 72))] += 8 if pool.gpus > 8 else 0
    if pool.gpus > 2 * RACK_GPUS:
        down[hours - OUTAGE[0] : hours - OUTAGE[1]] += RACK_GPUS
    return np.clip(pool.gpus - down, 0.0, None)


def _shape(pool: Pool, start: datetime, hours: int) -> Hours:
    """Return the factor of each hour around a mean of 1 over the week."""
    hour = np.arange(hours) + start.hour
    weekday = (start.weekday() + hour // 24) % 7
    swing = (1 + np.cos((hour % 24 - pool.peak_hour) * 2 * np.pi / 24)) / 2
    factor = (pool.night + (1 - pool.night) * swing) * np.where(weekday >= 5, pool.weekend, 1.0)
    return np.asarray(factor / factor.mean())


def _noise(pool: Pool, hours: int, generator: np.random.Generator) -> Hours:
    """Return a factor that wanders: each hour keeps most of the one before it."""
    keep = 0.94
    steps = generator.normal(0.0, pool.noise * np.sqrt(1 - keep**2), hours)
    noise = np.empty(hours)
    value = 0.0
    for index, step in enumerate(steps):
        value = keep * value + step
        noise[index] = value
    return np.clip(1.0 + noise, 0.05, None)
