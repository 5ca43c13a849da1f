"""Who may import whom, read from the code itself. CONTRIBUTING.md gives the reasons."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("costs", "planner", "launch")

# What each part may import of ours; the longest name that fits a module counts. A part that is not
# listed may import anything but what NOT_FROM closes.
MAY_IMPORT = {
    "costs.rows": ("costs.rows",),
    "costs.kinds": ("costs.rows",),
    "costs.names": (),
    "costs.egress": ("costs.egress",),
    "costs.text": (),
    "costs.rowtext": ("costs.kinds", "costs.rows"),
    "costs.quarantine_rules": (
        "costs.quarantine_rules",
        "costs.gate",
        "costs.kinds",
        "costs.names",
        "costs.rows",
        "costs.rowtext",
    ),
    "costs.gate": ("costs.kinds", "costs.names", "costs.rows", "costs.text"),
    "costs.judge": ("costs.gate", "costs.kinds", "costs.names", "costs.rows", "costs.rowtext"),
    "costs.sources": ("costs.sources", "costs.rows", "costs.names", "costs.egress"),
    "costs.models": ("costs.models",),
    "costs.queries": ("costs.queries", "costs.models"),
    # how old a source may be, and what it is called, stand with the source
    "costs.queries.runs": ("costs.queries", "costs.models", "costs.sources"),
    "costs.tasks": ("costs",),
    "costs": ("costs",),
    "planner.core": ("planner.core",),
    "planner.models": ("planner.models", "costs.models"),
    "planner.charts": (
        "planner.charts",
        "planner.core",
        "planner.comparison.result",
        "planner.templatetags.units",
    ),
    "planner.templatetags": ("planner.templatetags",),
    "planner.settings": (),
    "launch": ("launch",),
}
# the first may be imported by the second alone
NOT_FROM = {
    "planner.views": ("planner.urls", "planner.views"),
    "planner.urls": (),
    "planner.serve": (),
    "costs.publish": ("costs.ingest", "costs.publish", "costs.undo"),
    "launch": ("launch",),
}
# what of others' is kept in one place
ONLY_IN = {
    "boto3": ("costs.sources", "costs.egress"),
    "botocore": ("costs.sources", "costs.egress"),
    "urllib.request": ("costs.egress", "launch"),
    "requests": ("costs.egress",),
    "httpx": ("costs.egress",),
    "urllib3": ("costs.egress",),
    "http.client": ("costs.egress", "launch"),
    "socket": ("costs.egress", "planner.serve", "launch"),
    "gpuhunt": ("costs.sources.gpuhunt_catalogue",),
    "plotly": ("planner.static",),  # the folder of its script, not its Python
    "celery": ("planner.celery", "costs.tasks", "costs.jobs"),  # the last sends hints
    "waitress": ("planner.serve",),
    "django.db.models.signals": (),
    "django.dispatch": (),
    "pickle": (),
    "subprocess": ("launch",),
}
CORE_LIBRARIES = {"numpy", "pandas", "scipy", "highspy"}
# in the core nothing reads a file, a clock or chance
CORE_CLOSED_MODULES = {
    "random",
    "secrets",
    "os",
    "pathlib",
    "io",
    "time",
    "sys",
    "tempfile",
    "shutil",
    "uuid",
}
CORE_CLOSED_CALLS = {"open", "now", "today", "utcnow", "default_rng", "eval", "exec", "RandomState", "seed"}
NO_DJANGO = (
    "costs.sources",
    "costs.rows",
    "costs.names",
    "costs.gate",
    "costs.quarantine_rules",
    "planner.core",
    "planner.comparison.result",
)
# slow to load and not needed by every process
HEAVY = {"duckdb", "gpuhunt", "pyarrow", "scipy.optimize", "highspy"}
NAMES_WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "common", "base", "services", "misc"}
MOST_LINES = 350


@dataclass(frozen=True)
class Import:
    name: str
    line: int
    inside: str  # the function it stands in, or ""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def place(self) -> str:
        return str(self.path.relative_to(ROOT))


@cache
def modules() -> dict[str, Module]:
    paths = [path for part in OURS for path in sorted((ROOT / part).rglob("*.py"))]
    return {
        module.name: module for path in paths if "migrations" not in path.parts for module in [read(path)]
    }


def read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    package = name if is_package else name.rpartition(".")[0]
    return Module(name, path, tree, tuple(imports(tree, package, "")))


def imports(node: ast.AST, package: str, inside: str) -> Iterator[Import]:
    """Yield what a module imports, with the names that `from x import y` takes: y may be a module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            start = package.rsplit(".", child.level - 1)[0] if child.level else ""
            origin = ".".join(part for part in (start, child.module or "") if part)
            yield from (Import(f"{origin}.{alias.name}", child.lineno, inside) for alias in child.names)
        else:
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports(child, package, child.name if is_function else inside)


def within(name: str, parts: tuple[str, ...] | set[str]) -> bool:
    return any(name == part or name.startswith(part + ".") for part in parts)


@cache
def rule_for(name: str) -> tuple[str, ...] | None:
    fitting = [part for part in MAY_IMPORT if within(name, (part,))]
    return MAY_IMPORT[max(fitting, key=len)] if fitting else None


@cache
def module_of(imported: str) -> str | None:
    """Return our module that an imported name lives in: the name itself, or what holds it."""
    while imported:
        if imported in modules():
            return imported
        imported = imported.rpartition(".")[0]
    return None


def ours(module: Module) -> Iterator[tuple[Import, str]]:
    for found in module.imports:
        target = module_of(found.name)
        if target is not None and target != module.name:
            yield found, target


def broken(rule: str) -> list[str]:
    """Return every breach of one rule, as file:line and what is wrong."""
    check = globals()[f"_{rule}"]
    return [f"{module.place}:{line} {what}" for module in modules().values() for line, what in check(module)]


Breaches = Iterator[tuple[int, str]]


def _parts_import_only_what_they_may(module: Module) -> Breaches:
    allowed = rule_for(module.name)
    for found, target in ours(module):
        # a package's own front is no layer: `from . import jobs` names costs first
        if allowed is not None and not within(target, allowed) and target not in OURS:
            yield found.line, f"may not import {target}"


def _parts_are_imported_only_where_they_may_be(module: Module) -> Breaches:
    for found, target in ours(module):
        for closed, users in NOT_FROM.items():
            if within(target, (closed,)) and not within(module.name, (*users, closed)):
                yield found.line, f"{target} is for {', '.join(users) or 'nobody'} alone"


def _facts_know_nothing_of_plans(module: Module) -> Breaches:
    for found in module.imports:
        if within(module.name, ("costs",)) and within(found.name, ("planner",)):
            yield found.line, f"costs may not import {found.name}"


def _libraries_stay_in_their_place(module: Module) -> Breaches:
    for found in module.imports:
        for library, users in ONLY_IN.items():
            if within(found.name, (library,)) and not within(module.name, users):
                yield found.line, f"{library} is for {', '.join(users) or 'nobody'} alone"


def _some_parts_know_no_django(module: Module) -> Breaches:
    for found in module.imports:
        if within(module.name, NO_DJANGO) and within(found.name, ("django", "celery", "plotly")):
            yield found.line, f"may not import {found.name}"


def _the_core_is_plain_arithmetic(module: Module) -> Breaches:
    if not within(module.name, ("planner.core",)):
        return
    for found in module.imports:
        top = found.name.partition(".")[0]
        if top not in CORE_LIBRARIES | sys.stdlib_module_names | {"planner"} or top in CORE_CLOSED_MODULES:
            yield found.line, f"the core may not import {found.name}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in CORE_CLOSED_CALLS:
                yield node.lineno, f"the core may not call {name}()"


def _the_launcher_needs_nothing_installed(module: Module) -> Breaches:
    for found in module.imports:
        top = found.name.partition(".")[0]
        if within(module.name, ("launch",)) and top not in sys.stdlib_module_names | {"launch"}:
            yield found.line, f"only Python's own library is there before the set-up, not {found.name}"


def _imports_stand_at_the_top(module: Module) -> Breaches:
    for found in module.imports:
        is_ready = module.path.name == "apps.py" and found.inside == "ready"
        if found.inside and not is_ready and not within(found.name, HEAVY):
            yield found.line, f"import of {found.name} inside {found.inside}()"


def _models_do_not_hide_work_in_save(module: Module) -> Breaches:
    for node in ast.walk(module.tree):
        if ".models" in module.name and isinstance(node, ast.FunctionDef) and node.name in {"save", "delete"}:
            yield node.lineno, f"{node.name}() is overridden"


def _files_are_small_and_named_for_what_they_hold(module: Module) -> Breaches:
    if module.path.stem in NAMES_WITHOUT_MEANING:
        yield 1, "the name says nothing"
    lines = len(module.path.read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        yield lines, f"{lines} lines; split before {MOST_LINES}"


def _htmx_is_known_in_one_place(module: Module) -> Breaches:
    if module.name in {"planner.fragments", "planner.settings"} or not within(
        module.name, ("planner", "costs")
    ):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr == "htmx":
            yield node.lineno, "request.htmx is for planner.fragments alone"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("HX-"):
            yield node.lineno, f"{node.value} is for planner.fragments alone"


RULES = [name[1:] for name, value in list(globals().items()) if name.startswith("_") and callable(value)]


@pytest.mark.parametrize("rule", RULES)
def test_the_code_keeps_the_rule(rule: str) -> None:
    assert broken(rule) == []


def test_every_part_in_the_rules_exists() -> None:
    named = set(MAY_IMPORT) | set(NOT_FROM) | set(NO_DJANGO)
    assert named - set(modules()) == set()


def test_planner_is_an_empty_package() -> None:
    # if it imported Celery, `import planner.core` would load Celery and Django
    assert (ROOT / "planner" / "__init__.py").read_text().strip() == ""


def test_no_two_modules_need_each_other() -> None:
    """Walk the imports; a module met again on the way down closes a circle."""
    needs = {name: sorted({target for _, target in ours(module)}) for name, module in modules().items()}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> list[str]:
        if name in path:
            return [" -> ".join((*path[path.index(name) :], name))]
        if name in done:
            return []
        circles = [circle for other in needs[name] for circle in walk(other, (*path, name))]
        done.add(name)
        return circles

    # a package's front gathers its parts; parts that name the front only mean their neighbours
    fronts = {name for name, module in modules().items() if module.path.name == "__init__.py"}
    for name, targets in needs.items():
        needs[name] = [target for target in targets if target not in fronts or not within(name, (target,))]
    assert [circle for name in needs for circle in walk(name, ())] == []


@pytest.mark.parametrize(
    ("rule", "where", "code", "what"),
    [
        ("facts_know_nothing_of_plans", "costs/x.py", "from planner import queries", "planner.queries"),
        ("the_core_is_plain_arithmetic", "planner/core/x.py", "import django", "django"),
        (
            "the_core_is_plain_arithmetic",
            "planner/core/x.py",
            "from datetime import date\ndate.today()",
            "today",
        ),
        ("the_core_is_plain_arithmetic", "planner/core/x.py", "import random", "random"),
        ("the_core_is_plain_arithmetic", "planner/core/x.py", "def f(p):\n    return open(p)", "open"),
        ("some_parts_know_no_django", "costs/sources/x.py", "from django.db import models", "django"),
        ("libraries_stay_in_their_place", "costs/jobs_x.py", "import boto3", "boto3"),
        ("libraries_stay_in_their_place", "planner/x.py", "import plotly.graph_objects", "plotly"),
        (
            "parts_import_only_what_they_may",
            "costs/sources/x.py",
            "from ..models import Price",
            "costs.models",
        ),
        (
            "parts_import_only_what_they_may",
            "planner/charts/x.py",
            "from planner.models import Person",
            "models",
        ),
        (
            "parts_are_imported_only_where_they_may_be",
            "planner/x.py",
            "from planner.views import prices",
            "views",
        ),
        ("imports_stand_at_the_top", "planner/x.py", "def f():\n    import json", "json"),
        ("the_launcher_needs_nothing_installed", "launch/x.py", "import django", "django"),
        ("files_are_small_and_named_for_what_they_hold", "planner/utils.py", "", "says nothing"),
        (
            "models_do_not_hide_work_in_save",
            "planner/models/x.py",
            "class A:\n    def save(self): ...",
            "save",
        ),
        ("htmx_is_known_in_one_place", "planner/x.py", "def f(request):\n    return request.htmx", "htmx"),
    ],
)
def test_the_rule_finds_what_it_is_for(
    rule: str, where: str, code: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules()  # the real ones, read before the root moves
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_text(code)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    module = read(path)
    assert any(what in text for _, text in globals()[f"_{rule}"](module))
