"""Launch functions that write their sizes down: `rows, cols = 19, 320` at the top of a function without parameters.

Such numbers are its sizes as much as `def launch(rows=19, cols=320)` would have them, and most people write them so.
The function is read once more with these names as parameters, on the same lines. Whether what is asked holds for all of
them is seen as for any parameter; `AsWritten` is the function with its numbers as they stand. With or without
parameters, numbers that it reads from tensors by `int(x)` are read as by `x.item()`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

LEAST = 2  # 0 and 1 are other programs


@dataclass(frozen=True)
class AsWritten:
    """A target of `lift` whose numbers are no sizes."""

    target: Any


def with_sizes(function: Any) -> Any:
    """The function with the whole numbers that it writes at its top as parameters; the function itself where it has
    parameters already, writes none, or cannot be read."""
    tree = tree_of(function)
    return function if tree is None else remade(function, tree, dict(sizes_in(tree)))


def as_it_is(function: Any) -> Any:
    """The function with its numbers as they stand."""
    tree = tree_of(function)
    return function if tree is None else remade(function, tree, {})


def writes(function: Any) -> bool:
    """Whether a function writes numbers at its top."""
    tree = tree_of(function)
    return tree is not None and any(sizes_in(tree))


class ReadsNumbers(ast.NodeTransformer):
    """`int(x)` of a tensor of whole numbers as `x.item()`, which may be a symbol."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("int"), [given], []):
                return ast.copy_location(whole_number_of(given), node)
        return node


def whole_number_of(given: ast.expr) -> ast.expr:
    """What `int` makes of it: of whole numbers of torch what they are."""
    text = "x.item() if hasattr(x, 'is_floating_point') and not x.is_floating_point() else int(x)"
    read = ast.parse(f"lambda x: {text}", mode="eval").body
    return ast.Call(read, [given], [])


def remade(function: Any, tree: ast.FunctionDef, sizes: dict[str, int]) -> Any:
    """The function, compiled anew with these as parameters, on the same lines."""
    before = ast.dump(tree)
    tree = ReadsNumbers().visit(tree)
    if not sizes and ast.dump(tree) == before:
        return function
    tree.decorator_list, tree.returns = [], None
    tree.args.kwonlyargs += [ast.arg(name) for name in sizes]
    tree.args.kw_defaults += [None] * len(sizes)
    tree.args = without_values(tree.args)
    tree.body = [rest for statement in tree.body for rest in without(statement, sizes)]
    module = ast.Module([tree], [])
    for part in ast.walk(module):
        if isinstance(part, ast.stmt | ast.expr | ast.arg) and not hasattr(part, "lineno"):
            ast.copy_location(part, tree)
    code = compile(ast.fix_missing_locations(module), function.__code__.co_filename, "exec", dont_inherit=True)
    made: dict[str, Any] = {}
    exec(code, function.__globals__, made)
    found: Callable[..., Any] = made[tree.name]
    found.__qualname__ = function.__qualname__
    found.__defaults__ = function.__defaults__
    found.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **sizes}
    return found


def without_values(args: ast.arguments) -> ast.arguments:
    """Parameters that are not worked out again: what they are by default, and annotated with."""
    for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if one is not None:
            one.annotation = None
    args.defaults, args.kw_defaults = [], [None] * len(args.kwonlyargs)
    return args


def tree_of(function: Any) -> ast.FunctionDef | None:
    """The text of a plain function that needs nothing of a function around it."""
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__") or function.__closure__:
        return None
    try:
        lines, first = inspect.getsourcelines(function)
        (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, first - 1)
    return tree if isinstance(tree, ast.FunctionDef) else None


def sizes_in(tree: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """The names that the own statements of a function without parameters bind to a whole number, and nothing else in it
    binds again."""
    if any((tree.args.posonlyargs, tree.args.args, tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg)):
        return
    parts = list(ast.walk(tree))
    bound = Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    declared = {name for part in parts if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    for target, value in (pair for statement in tree.body for pair in bindings(statement)):
        match target, value:
            case ast.Name(name), ast.Constant(int(size)) if bound[name] == 1 and name not in declared:
                if type(size) is int and size >= LEAST:
                    yield name, size


def without(statement: ast.stmt, sizes: Collection[str]) -> Iterator[ast.stmt]:
    """A statement without what it binds of these names."""
    pairs = bindings(statement)
    left = [(target, value) for target, value in pairs if not (isinstance(target, ast.Name) and target.id in sizes)]
    if len(left) == len(pairs):
        yield statement
    elif left:
        targets, values = zip(*left, strict=True)
        rest = ast.Assign([ast.Tuple(list(targets), ast.Store())], ast.Tuple(list(values), ast.Load()))
        yield ast.copy_location(rest, statement)


def bindings(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement such as `rows, eps = 19, 1e-6` binds to what."""
    match statement:
        case ast.Assign([ast.Name() as target], value):
            return [(target, value)]
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            return list(zip(targets, values, strict=True))
    return []
