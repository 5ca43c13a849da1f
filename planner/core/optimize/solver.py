"""HiGHS (Huangfu and Hall, 2018; highs.dev), given whole matrices. One thread, so that a run can be repeated.

A `Solver` keeps its model, so that the next solve with other costs or bounds begins where the last one ended.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.program import Bounds, Program
from planner.core.ranges import ABOVE_0, ANY, AT_LEAST_0, endless, require_fields, takes

if TYPE_CHECKING:
    import highspy

Status = Literal["optimal", "stopped", "time_limit", "infeasible", "unbounded", "failed"]


@dataclass(frozen=True)
class Progress:
    """Where the search stands: the best total so far, what none can beat, and their distance as a share.

    `best` and `gap` are infinite until something is found; `bound` is minus infinity until one is known.
    """

    best: float
    bound: float
    gap: float
    seconds: float


Listener = Callable[[Progress], None]
Stop = Callable[[], bool]


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Effort:
    """How long to search: until the gap is small enough, time is over or `stop()` says so.

    `gap` is (best - bound) / best. `stop` is asked, and `progress` told, from inside the search.
    """

    gap: float = 1e-6
    seconds: float = math.inf
    progress: Listener | None = None
    stop: Stop = _never

    def __post_init__(self) -> None:
        require_fields(self, gap=AT_LEAST_0, seconds=endless(ABOVE_0))


DEFAULT = Effort()


@dataclass(frozen=True)
class Answer:
    """What HiGHS found. Without a solution `x` is empty; duals are those of a linear program, else empty.

    `row_dual` is what the cost grows by per unit of a row's bound, `reduced_cost` per unit of a column.
    """

    status: Status
    objective: float
    bound: float
    x: FloatArray
    row_dual: FloatArray
    reduced_cost: FloatArray

    @property
    def is_found(self) -> bool:
        """Return whether there is a solution, the best one or not."""
        return len(self.x) > 0

    @property
    def gap(self) -> float:
        """Return (objective - bound) / |objective|: 0 where proven the best, infinite without a solution."""
        if not self.is_found:
            return math.inf
        distance = max(self.objective - self.bound, 0.0)
        return distance / abs(self.objective) if self.objective else (0.0 if distance == 0.0 else math.inf)


class Solver:
    """One program inside HiGHS."""

    def __init__(self, program: Program) -> None:
        self._highs = _quiet_highs()
        self._highs.setOptionValue("threads", 1)
        # scaling by the largest value and Devex pricing: on these programs half the time of the defaults
        self._highs.setOptionValue("simplex_scale_strategy", 4)
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", 1)
        # a plan's money and hours are checked to 1e-9 of themselves
        self._highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self._is_mixed = bool(program.whole.any())
        self._highs.passModel(_model(program))

    @takes(cost=ANY)
    def change_costs(self, cost: FloatArray) -> None:
        """Put other costs in place of all."""
        self._highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)

    def change_rows(self, rows: IntArray, bounds: Bounds) -> None:
        """Put other bounds on some rows."""
        for row, low, high in zip(rows.tolist(), bounds.lower.tolist(), bounds.upper.tolist(), strict=True):
            self._highs.changeRowBounds(row, low, high)

    def change_columns(self, columns: IntArray, bounds: Bounds) -> None:
        """Put other bounds on some columns."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), bounds.lower, bounds.upper)

    def run(self, effort: Effort = DEFAULT) -> Answer:
        """Solve, from where the last solve ended."""
        self._highs.setOptionValue("mip_rel_gap", effort.gap)
        self._highs.setOptionValue("time_limit", effort.seconds)
        ear = _Ear(effort)
        ear.attach(self._highs)
        try:
            self._highs.run()
        finally:
            ear.detach(self._highs)
        if ear.error is not None:
            raise ear.error
        return self._answer(effort)

    def _answer(self, effort: Effort) -> Answer:
        import highspy

        status = self._highs.getModelStatus()
        info = self._highs.getInfo()
        kind = highspy.HighsModelStatus
        names: dict[Any, Status] = {
            kind.kOptimal: "optimal",
            kind.kModelEmpty: "optimal",
            kind.kInterrupt: "stopped",
            kind.kTimeLimit: "time_limit",
            kind.kInfeasible: "infeasible",
            kind.kUnboundedOrInfeasible: "infeasible",
            kind.kUnbounded: "unbounded",
        }
        named = names.get(status, "failed")
        is_found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if named == "infeasible" or not is_found:
            bound = info.mip_dual_bound if self._is_mixed else -math.inf
            return Answer(named, math.inf, bound, np.zeros(0), np.zeros(0), np.zeros(0))
        solution = self._highs.getSolution()
        objective = float(info.objective_function_value)
        if self._is_mixed:
            bound, duals = float(info.mip_dual_bound), (np.zeros(0), np.zeros(0))
        else:
            bound = objective if named == "optimal" else -math.inf
            duals = np.array(solution.row_dual), np.array(solution.col_dual)
        return Answer(named, objective, bound, np.array(solution.col_value), *duals)


class _Ear:
    """Listens to the search: tells its progress and stops it. An error in a listener stops it too."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.error: BaseException | None = None

    def _events(self, highs: "highspy.Highs") -> list[Any]:
        stops = [highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt]
        wanted = stops if self.effort.stop is not _never else []
        if self.effort.progress is not None:
            wanted = [*wanted, highs.cbMipLogging, highs.cbMipImprovingSolution]
        return wanted

    def attach(self, highs: "highspy.Highs") -> None:
        for event in self._events(highs):
            event.subscribe(self.hear)

    def detach(self, highs: "highspy.Highs") -> None:
        for event in self._events(highs):
            event.unsubscribe(self.hear)

    def hear(self, event: Any) -> None:
        """Handle one event of the search; HiGHS itself cannot carry an exception."""
        import highspy

        try:
            kind = highspy.cb.HighsCallbackType
            if event.callback_type in (kind.kCallbackMipLogging, kind.kCallbackMipImprovingSolution):
                if self.effort.progress is not None:
                    self.effort.progress(_progress(event.data_out))
            elif self.effort.stop():
                event.interrupt()
        except BaseException as error:
            self.error = error
            if event.data_in is not None:
                event.interrupt()


def _progress(out: Any) -> Progress:
    return Progress(
        best=float(out.mip_primal_bound),
        bound=float(out.mip_dual_bound),
        gap=float(out.mip_gap),
        seconds=float(out.running_time),
    )


def _quiet_highs() -> "highspy.Highs":
    """Return a solver that writes nothing: the first one would print a banner before it could be told."""
    import highspy

    class QuietHighs(highspy.Highs):
        def enableCallbacks(self) -> None:  # called by the constructor
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    return QuietHighs()  # type: ignore[no-untyped-call]


def _model(program: Program) -> "highspy.HighsLp":
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_ = program.columns
    lp.num_row_ = len(program.row_lower)
    lp.col_cost_ = program.cost
    lp.col_lower_ = program.lower
    lp.col_upper_ = program.upper
    lp.row_lower_ = program.row_lower
    lp.row_upper_ = program.row_upper
    lp.offset_ = program.constant
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = program.matrix.indptr
    lp.a_matrix_.index_ = program.matrix.indices
    lp.a_matrix_.value_ = program.matrix.data
    if program.whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[is_whole] for is_whole in program.whole.tolist()]
    return lp


def solve_program(program: Program, effort: Effort = DEFAULT) -> Answer:
    """Return the least-cost solution of a program; see Effort for how long it is searched.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import build
    >>> solve_program(build(two_months()).program).status
    'optimal'
    """
    return Solver(program).run(effort)
