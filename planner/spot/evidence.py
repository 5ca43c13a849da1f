"""How often machines are lost: typed in, measured in traces, or no more than bounded by a published band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Literal

from costs.queries.spot import Band, CapacitySeries, ZoneSeries
from planner.core.spot import lowest_hazard_per_hour
from planner.core.spot_deadline import DeadlineJob, Replay, replay
from planner.core.spot_traces import Trace, availability, trace_of
from planner.forms.spot import Job

Kind = Literal["typed", "measured", "band", "none"]
AVAILABILITY = "availability"
NO_DATA = "no interruption data"
AN_HOUR = timedelta(hours=1)
# starts of one trace near each other see nearly the same hours: more of them say little more
STARTS_PER_TRACE = 100


@dataclass(frozen=True)
class Measured:
    """The traces that measured the machines of a zone: of its id, or of its region."""

    series: tuple[CapacitySeries, ...]
    of_zone: bool
    available_hours: float
    watched_hours: float
    losses: int
    traces: tuple[Trace, ...]
    task: DeadlineJob

    @cached_property
    def replays(self) -> tuple[Replay, ...]:
        """Return the job replayed on each trace; only what is shown is replayed."""
        return tuple(replay(trace, self.task, every_hours=_every_hours(trace)) for trace in self.traces)

    @property
    def starts(self) -> int:
        return sum(len(one.starts_hours) for one in self.replays)

    @property
    def share_missed(self) -> float | None:
        """Return the share of starts whose job is late on spot alone; None where no start fits."""
        late = sum(int((~one.alone_in_time).sum()) for one in self.replays)
        return late / self.starts if self.starts else None

    @property
    def share_switched(self) -> float | None:
        """Return the share of starts that end on demand, where the job may move there in time."""
        moved = sum(int(one.switched.sum()) for one in self.replays)
        return moved / self.starts if self.starts else None

    @property
    def share_on_spot(self) -> float | None:
        """Return the share of the useful work that such a job does on spot."""
        if not self.starts:
            return None
        done = sum(float(one.spot_work_hours.sum()) for one in self.replays)
        left = sum(float(one.on_demand_hours.sum()) for one in self.replays)
        return done / (done + left) if done + left else None


@dataclass(frozen=True)
class Evidence:
    """The mean time between losses of the job, and what says so. A band gives the longest that can be."""

    kind: Kind
    mtbf_hours: float | None  # of the job; None where nothing is known
    measured: Measured | None = None
    band: Band | None = None
    reason: str = ""

    @property
    def is_bound(self) -> bool:
        return self.kind == "band"


@dataclass
class Traces:
    """The traces of one machine type; each is replayed once, whatever the number of zones that it is of."""

    series: Sequence[CapacitySeries]
    job: Job
    _measured: dict[tuple[str, str], Measured | None] = field(default_factory=dict)

    @property
    def fitting(self) -> list[CapacitySeries]:
        """Return the traces that looked for as many machines as the job needs."""
        needed = self.job.machines
        return [one for one in self.series if one.nodes_wanted is None or one.nodes_wanted >= needed]

    def of(self, zone: ZoneSeries) -> Measured | None:
        """Return what was measured: in the zone where its id is known, else in its region."""
        for key in (("zone", zone.zone_id), ("region", zone.region)):
            found = self._of(*key) if key[1] else None
            if found is not None:
                return found
        return None

    def _of(self, column: str, place: str) -> Measured | None:
        if (column, place) not in self._measured:
            found = [one for one in self.fitting if getattr(one, column) == place]
            self._measured[column, place] = _measure(found, column == "zone", self.job) if found else None
        return self._measured[column, place]


def evidence_for(zone: ZoneSeries, bands: Mapping[str, Band], traces: Traces, job: Job) -> Evidence:
    """Return what is known of losses in a zone: what a person typed in counts more than what was measured."""
    measured, band = traces.of(zone), bands.get(zone.region)
    if job.mtbf_hours is not None:
        return Evidence("typed", job.mtbf_hours / job.machines, measured, band)
    if measured is not None and measured.losses:
        return Evidence("measured", measured.available_hours / measured.losses, measured, band)
    if band is not None:
        hazard = lowest_hazard_per_hour(float(band.share_low)) * job.machines
        return Evidence("band", 1 / hazard if hazard else float("inf"), measured, band)
    return Evidence("none", None, measured, None, NO_DATA)


def as_trace(series: CapacitySeries) -> Trace:
    """Return a stored trace as the model takes it, in hours since its first tick."""
    start = series.starts_at[0]
    return trace_of(
        [(at - start) / AN_HOUR for at in series.starts_at],
        [(at - start) / AN_HOUR for at in series.last_seen_at],
        series.follows_gap,
        [float(nodes) for nodes in series.nodes],
    )


def _measure(found: Sequence[CapacitySeries], of_zone: bool, job: Job) -> Measured:
    traces = [as_trace(one) for one in found]
    seen = [availability(trace, job.machines) for trace in traces]
    task = DeadlineJob(
        work_hours=job.work_hours,
        deadline_hours=job.deadline_hours,
        restart_hours=job.restart_hours,
        nodes_needed=job.machines,
        work_rate=job.work_rate,
    )
    return Measured(
        series=tuple(found),
        of_zone=of_zone,
        available_hours=sum(one.available_hours for one in seen),
        watched_hours=sum(one.watched_hours for one in seen),
        losses=sum(one.losses for one in seen),
        traces=tuple(traces),
        task=task,
    )


def _every_hours(trace: Trace) -> float:
    watched = float((trace.ends_hours - trace.starts_hours).sum())
    return max(1.0, watched / STARTS_PER_TRACE)
