"""Work that costs money once: validating a GPU model, a cache, a distilled model, a move."""

import numpy as np

from planner.core.lines import Line, LineMaker
from planner.core.plan import Plan, Project
from planner.core.setting import Setting

PROJECT = "project"


def project_usd(project: Project, plan: Plan) -> float:
    """Return money plus engineering weeks at the plan's price of a week (NaN: unknown)."""
    usd = float("nan") if project.usd is None else project.usd
    if project.engineering_weeks == 0.0:
        return usd
    week = plan.usd_per_engineering_week
    return usd + project.engineering_weeks * (float("nan") if week is None else week)


def project_lines(setting: Setting) -> tuple[Line, ...]:
    """Return one line per project, paid at the begin of its day's month; a cost in the books too."""
    lines = []
    for project in setting.plan.projects:
        make = LineMaker(project.name, "project", setting.factors)
        is_due = np.arange(setting.plan.months) == setting.horizon.index_of(project.day)
        usd = np.where(is_due, project_usd(project, setting.plan), 0.0)
        lines.append(make.at_once(PROJECT, usd))
    return tuple(lines)
