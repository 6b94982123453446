"""The house stands as planned: imports run downward, every module opens by teaching itself, no file grows too long."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "samesame"
MODULES = sorted(SOURCE.rglob("*.py"))

# Floors from the roof down. What stands on one floor may import what stands on lower floors, and its own room.
FLOORS = [
    {"__main__"},
    {"cli"},
    {"testing", "pytest", "notebook"},
    {"several", "suite", "gguf", "sweep", "fuzz", "optimize", "entangle"},  # entangle: a plugin of refine
    {"report", "check", "refine", "lift"},
    {"certificate"},
    {"diagnose", "relate"},
    {"capture"},
    {"budget", "kernels"},                                    # kernels: what a kernel means, for every verb
    {"programs", "operators"},
    {"store", "work"},
    {"graph", "formula", "egraph", "evidence", "evaluator", "versions", "supervised"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
VERBS = {"check", "refine", "lift"}
TOP = 9                                    # files of the package itself, at most
WITHOUT_TORCH = {"formula", "egraph"}
LONGEST = 620                               # about 600 lines
LONGER = {"formula/expr.py": 680}          # the whole grammar stands in one place


def room(module: Path) -> str:
    """The first part of a module's name below the package; the package itself is the roof's."""
    return module.relative_to(SOURCE).with_suffix("").parts[0]


def imports(module: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported anywhere in the module, lazily or not."""
    package = ("samesame", *module.relative_to(SOURCE).parent.parts)
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)


def faults(module: Path) -> Iterator[str]:
    here = room(module)
    for line, name in imports(module):
        top, _, rest = name.partition(".")
        place = f"{module.relative_to(SOURCE)}:{line}"
        if top == "torch" and here in WITHOUT_TORCH:
            yield f"{place} imports {name}, and {here} knows nothing of torch"
        there = rest.split(".")[0]
        if top != "samesame" or there not in FLOOR or here == there or here == "__init__":
            continue
        if here in VERBS and there in VERBS:
            yield f"{place} imports {name}: what two verbs share moves down"
        elif FLOOR[here] > FLOOR[there]:
            yield f"{place} imports {name}, which stands above {here}"


def name_of(module: Path) -> str:
    return str(module.relative_to(SOURCE))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_module_has_a_floor_and_imports_run_downward(module: Path) -> None:
    assert room(module) in FLOOR or room(module) == "__init__", f"give {room(module)} a place in FLOORS"
    assert not list(faults(module))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_module_opens_with_a_sentence(module: Path) -> None:
    opening = ast.get_docstring(ast.parse(module.read_text()))
    assert opening, f"{name_of(module)} does not say what it is"
    first = opening.split("\n\n")[0].rstrip()
    assert first.endswith((".", ":", "?")), f"{name_of(module)} does not open with a sentence"


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_no_module_is_longer_than_one_idea(module: Path) -> None:
    lines = len(module.read_text().splitlines())
    assert lines <= LONGER.get(name_of(module), LONGEST), f"{name_of(module)} has {lines} lines; is it two files?"


def needed(module: Path) -> set[Path]:
    """The modules that a module imports anywhere, but where only a type checker looks."""
    tree = ast.parse(module.read_text())
    idle = {id(child) for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            for child in ast.walk(node)}
    found = set[Path]()
    for node in ast.walk(tree):
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "samesame"
        if ours and id(node) not in idle:
            for alias in node.names:
                place = SOURCE.joinpath(*node.module.split(".")[1:])
                for path in (place / f"{alias.name}.py", place / alias.name / "__init__.py", place / "__init__.py",
                             place.with_suffix(".py")):
                    if path.exists():
                        found.add(path)
                        break
    return found - {module}


def circle(graph: dict[Path, set[Path]]) -> list[Path]:
    """Modules that import one another in a circle, lazy imports counted; none where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {module: needed(module) for module in MODULES}
    assert not circle(graph), [name_of(module) for module in circle(graph)]
    graph[SOURCE / "evidence.py"] |= {SOURCE / "check.py"}
    assert circle(graph), "a circle is seen"


def test_files_of_tests_have_names_of_their_own() -> None:
    """Else pytest refuses the second one, where both are collected in one run."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert max(names.values()) == 1, names.most_common(1)


def test_few_files_stand_outside_rooms() -> None:
    assert len(list(SOURCE.glob("[!_]*.py"))) <= TOP


def test_an_import_that_runs_upward_is_seen() -> None:
    """The rules above can fail: each of these lines breaks one."""
    broken = {
        "formula/x.py": ("import torch.nn", "knows nothing of torch"),
        "egraph/x.py": ("from samesame.relate import prove", "stands above egraph"),
        "graph/x.py": ("def lazily():\n    from samesame import operators", "stands above graph"),
        "check.py": ("from samesame.refine import refine", "what two verbs share"),
        "relate/x.py": ("from ..check import check", "stands above relate"),
    }
    for path, (text, fault) in broken.items():
        module = FakeModule(SOURCE / path, text)
        assert [message for message in faults(module) if fault in message], path


class FakeModule(type(Path())):
    """A module that holds the given text."""

    def __new__(cls, path: Path, text: str) -> FakeModule:
        module = super().__new__(cls, path)
        module.text = text
        return module

    def read_text(self, *_: object) -> str:
        return self.text
