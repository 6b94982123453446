"""The house stands as planned: imports run downward, every module opens by teaching itself, no file grows too long."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from longest import LONGEST

SOURCE = Path(__file__).parent.parent / "src" / "samesame"
MODULES = sorted(SOURCE.rglob("*.py"))
KNOWN = frozenset(MODULES)

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
MOST = 620                                  # about 600 lines
LONGER = {"formula/expr.py": 680}          # the whole grammar stands in one place


def room(module: Path) -> str:
    """The first part of a module's name below the package; the package itself is the roof's."""
    return module.relative_to(SOURCE).with_suffix("").parts[0]


@dataclass(frozen=True)
class Import:
    line: int
    name: str                               # dotted, of everything imported, lazily or not
    idle: bool                              # where only a type checker looks


@dataclass(frozen=True)
class Read:
    """What the rules below ask of a module's text; it is parsed once."""

    opening: str
    lines: int
    imports: tuple[Import, ...]


@cache
def read(module: Path) -> Read:
    return parsed(module, module.read_text())


def parsed(module: Path, text: str) -> Read:
    tree = ast.parse(text)
    package = ("samesame", *module.relative_to(SOURCE).parent.parts)
    return Read(ast.get_docstring(tree) or "", len(text.splitlines()), tuple(imports(tree, package)))


def imports(node: ast.AST, package: tuple[str, ...], idle: bool = False) -> Iterator[Import]:
    """Statements nest in statements only, so that expressions need no look."""
    if isinstance(node, ast.Import):
        yield from (Import(node.lineno, alias.name, idle) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else ()
        name = ".".join([*base, *([node.module] if node.module else [])])
        yield from (Import(node.lineno, f"{name}.{alias.name}", idle) for alias in node.names)
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        checked = idle or (isinstance(node, ast.If) and field == "body" and "TYPE_CHECKING" in ast.unparse(node.test))
        for child in getattr(node, field, ()):
            yield from imports(child, package, checked)


def faults(module: Path, text: Read) -> Iterator[str]:
    here = room(module)
    for found in text.imports:
        name = found.name
        top, _, rest = name.partition(".")
        place = f"{module.relative_to(SOURCE)}:{found.line}"
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
def test_every_module_stands_as_planned(module: Path) -> None:
    """It has a floor, its imports run downward, it opens with a sentence, and is no longer than one idea."""
    assert room(module) in FLOOR or room(module) == "__init__", f"give {room(module)} a place in FLOORS"
    text = read(module)
    assert not list(faults(module, text))
    name, first = name_of(module), text.opening.split("\n\n")[0].rstrip()
    assert text.opening, f"{name} does not say what it is"
    assert first.endswith((".", ":", "?")), f"{name} does not open with a sentence"
    assert text.lines <= LONGER.get(name, MOST), f"{name} has {text.lines} lines; is it two files?"


def needed(module: Path) -> set[Path]:
    """The modules that a module imports anywhere, but where only a type checker looks."""
    found = set[Path]()
    for one in read(module).imports:
        parts = one.name.split(".")
        if parts[0] == "samesame" and not one.idle:
            whole, package = SOURCE.joinpath(*parts[1:]), SOURCE.joinpath(*parts[1:-1])
            places = (whole.with_suffix(".py"), whole / "__init__.py", package / "__init__.py",
                      package.with_suffix(".py"))
            found |= {next(place for place in places if place in KNOWN)}
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


@pytest.mark.parametrize("file", LONGEST)
def test_what_is_listed_as_longest_is_a_test(file: str) -> None:
    text = (Path(__file__).parent / file).read_text()
    assert not [name for name in LONGEST[file] if f"def {name.partition('[')[0]}(" not in text]


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
        module = SOURCE / path
        assert [message for message in faults(module, parsed(module, text)) if fault in message], path
