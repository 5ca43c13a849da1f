"""The worked examples this core answers: inputs and expected numbers with their source, and the calls.

One module per family, each with EXAMPLES (typed here) and ANSWERS (id -> what the core says, in the words of
the example's `expected`). Expected numbers come from the named source, or are worked out from the inputs by
hand; none is read off the code.
"""

import importlib
import pkgutil
from collections.abc import Callable

from tests.core.worked.example import Example, Values

_FAMILIES = [
    importlib.import_module(f"{__name__}.{module.name}")
    for module in pkgutil.iter_modules(__path__)
    if module.name != "example"
]
EXAMPLES: list[Example] = [example for family in _FAMILIES for example in family.EXAMPLES]
ANSWERS: dict[str, Callable[[Values], Values]] = {
    identifier: answer for family in _FAMILIES for identifier, answer in family.ANSWERS.items()
}
