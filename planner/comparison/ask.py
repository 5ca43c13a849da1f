"""Answer an address: the one way from a query string to a Comparison, for pages, files and the shell."""

from collections.abc import Sequence
from datetime import datetime

from planner.comparison.address import Address
from planner.comparison.build import compare
from planner.comparison.result import Comparison
from planner.queries import scenarios_by_slug


def answer_address(address: Address, now: datetime, notices: Sequence[str] = ()) -> Comparison:
    """Return the comparison that an address asks for; raise UnknownScenarioError for an unknown one."""
    return compare(
        scenarios_by_slug([chosen.slug for chosen in address.scenarios]),
        as_of=address.as_of,
        one_date=address.one_date,
        view=address.view,
        base=address.base,
        overrides=address.overrides,
        revisions={one.slug: one.revision for one in address.scenarios if one.revision is not None},
        run_gpu_hours=address.run_gpu_hours,
        now=now,
        notices=(*notices, *address.notices),
    )
