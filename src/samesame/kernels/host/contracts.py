"""Contracts: what a user says that a launch may rely on, in the names of the launch.

    N % 2 == 0                                 of sizes
    K == 2 * N                                 of two sizes that belong together
    0 <= labels < V or labels == -100          of each element of a tensor of integers
    distinct(slots)                            no two elements of a tensor are equal
    distinct(slots[slots >= 0])                no two of those for which this holds
    ascending(starts)                          no element is less than the one before
    0 < temperature                            each element of a tensor of reals is above zero

A contract is read as Python writes it, and never run as such: its syntax tree may hold comparisons, whole numbers,
arithmetic and the names of sizes and tensors, and nothing else. A contract on sizes is one more thing that the host
code asks of them, so it is a guard like any other; what is said of elements is kept until the example's tensors can be
looked at. The example meets every contract, or the contract is refused: so what is assumed is never empty.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.kernels.host.sizes import Reading
from samesame.kernels.stated import Above, Ascending, Distinct, Elements, Stated

LONGEST = 1000  # characters of one contract
LARGEST = 1 << 63
ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARED: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
CHOSEN = {"min": torch.sym_min, "max": torch.sym_max}


@dataclass(frozen=True)
class Contract:
    """One contract, as it was written: its syntax tree."""

    text: str
    tree: ast.expr


@dataclass
class Names:
    """What the names in a contract stand for: the host's variables, those of the function that was called before those
    of functions that it calls; and the parameters of kernels, where only one thing goes by the name."""

    host: dict[str, Any] = field(default_factory=dict)
    kernels: dict[str, list[Any]] = field(default_factory=dict)

    def note(self, name: str, value: Any) -> None:
        if can_be_named(value):
            self.host.setdefault(name, value)

    def note_parameter(self, name: str, value: Any) -> None:
        if can_be_named(value):
            self.kernels.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> Any:
        """Raises Refused for a name of nothing, or of several things."""
        if name in self.host:
            return self.host[name]
        found = self.kernels.get(name, [])
        if not found:
            known = ", ".join(sorted({*self.host, *self.kernels})) or "none"
            raise Refused(f"{name} names no size and no tensor of the launch (there are: {known})")
        if not all(is_same(found[0], other) for other in found):
            raise Refused(f"{name} names several things, as several kernels are launched; use the host code's name")
        return found[0]


def can_be_named(value: Any) -> bool:
    return type(value) is int or isinstance(value, torch.SymInt | torch.Tensor)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are one tensor, or one number written alike; nothing is asked of symbols."""
    if isinstance(one, torch.SymInt) and isinstance(other, torch.SymInt):
        return bool(one.node.expr == other.node.expr)
    return one is other or (type(one) is type(other) is int and one == other)


def contracts(texts: Sequence[str]) -> tuple[Contract, ...]:
    """The contracts that are written; those joined by `and` one by one. Raises Refused where one cannot be read."""
    return tuple(part for text in texts for part in parsed(text))


def parsed(text: str) -> Iterator[Contract]:
    plain = " ".join(text.split())
    try:
        if len(plain) > LONGEST:
            raise Refused(f"it is longer than {LONGEST} characters")
        try:
            tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise Refused("this is no Python expression") from None
        parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
        for part in parts:
            if not isinstance(part, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call):
                raise Refused("it says nothing that could hold or not; write a comparison, or distinct(tensor)")
            yield Contract(ast.unparse(part), part)
    except Refused as refused:
        raise Refused(f"the contract {plain[:80]!r} cannot be read: {refused}") from None


# ------------------------------------------------------------------------------------------------------------- reading


def read_contract(contract: Contract, names: Names, is_so: Callable[[Any], bool]) -> Any:
    """What a contract says: a condition on sizes as an expression of torch's, or what is Stated of a tensor, with it
    and the numbers that its names stand for; None where it says no more than is plain. `is_so` says whether a condition
    on sizes is true of the example, and takes it to be asked by the host code. Raises Refused."""
    reader = Reader(names)
    try:
        try:
            claim = reader.claim(contract)
        except ZeroDivisionError:
            raise Refused("it divides by zero") from None
        except RecursionError:
            raise Refused("it is nested too deeply") from None
    except Refused as refused:
        raise Refused(f"the contract {contract.text!r} cannot be read: {refused}") from None
    if is_of_tensor(claim):
        return claim
    told = claim.node.expr if isinstance(claim, torch.SymBool) else None  # before it is asked, and so known to be true
    if not is_so(claim):
        raise Refused(f"the contract {contract.text!r} does not hold in the example")
    return told


def is_of_tensor(claim: Any) -> bool:
    return isinstance(claim, Stated)


def finished(claim: Any, reading: Reading, read: Callable[[Any, Reading], Any]) -> Any:
    """A contract with sizes in the place of torch's symbols, tensors as they are `read`: a condition on sizes, or
    what is Stated of a tensor."""
    match claim:
        case Elements(_, tensor, low, high, _):
            return replace(claim, tensor=read(tensor, reading), low=reading.number(low), high=reading.number(high))
        case Distinct(_, tensor, _, bound):
            return replace(claim, tensor=read(tensor, reading), bound=reading.number(bound))
        case Ascending(_, tensor) | Above(_, tensor):
            return replace(claim, tensor=read(tensor, reading))
    return reading.condition(claim)


@dataclass
class Reader:
    """Reads syntax trees by the names that they use."""

    names: Names

    def claim(self, contract: Contract) -> Any:
        tree: ast.expr = contract.tree
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "distinct":
            return self.distinct(tree, contract.text)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "ascending":
            return self.ascending(tree, contract.text)
        tensors = {part.id for part in self.bare(tree)}
        if not tensors:
            return self.condition(tree)
        if len(tensors) > 1:
            raise Refused(f"it relates the elements of {' and '.join(sorted(tensors))}; one tensor at a time")
        (name,) = tensors
        return self.elements(tree, name, contract.text)

    def bare(self, tree: ast.AST) -> Iterator[ast.Name]:
        """The names of tensors that stand for their elements, and not for what is asked of the tensor itself."""
        if isinstance(tree, ast.Attribute):
            return
        if isinstance(tree, ast.Call):
            length = isinstance(tree.func, ast.Name) and tree.func.id == "len"
            function = () if isinstance(tree.func, ast.Name) else (tree.func,)
            for argument in () if length else (*function, *tree.args):
                yield from self.bare(argument)
            return
        if isinstance(tree, ast.Name):
            if isinstance(self.names[tree.id], torch.Tensor):
                yield tree
            return
        for part in ast.iter_child_nodes(tree):
            yield from self.bare(part)

    # ---------------------------------------------------------------------------------------------------- of sizes

    def condition(self, tree: ast.expr) -> Any:
        """A condition on sizes, as a bool or one of torch's."""
        match tree:
            case ast.BoolOp(op, parts):
                joined = operator.and_ if isinstance(op, ast.And) else operator.or_
                return reduce(joined, map(self.condition, parts))
            case ast.UnaryOp(ast.Not(), part):
                return torch.sym_not(self.condition(part))  # type: ignore[no-untyped-call]
            case ast.Compare(left, ops, rights):
                numbers = [self.number(side) for side in (left, *rights)]
                found = (COMPARED[type(op)](a, b) for op, a, b in zip(known(ops), numbers, numbers[1:], strict=False))
                return reduce(operator.and_, found)
        raise Refused(f"{ast.unparse(tree)} is no condition")

    def number(self, tree: ast.expr) -> Any:
        """A whole number, or a symbol of torch's."""
        match tree:
            case ast.Constant(value) if type(value) is int and abs(value) < LARGEST:
                return value
            case ast.UnaryOp(ast.USub(), part):
                return -self.number(part)
            case ast.BinOp(ast.Constant(int(base)), ast.Pow(), ast.Constant(int(exponent))) if 0 <= exponent < 64:
                return self.number(ast.Constant(base**exponent))
            case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
                return ARITHMETIC[type(op)](self.number(left), self.number(right))
            case ast.Call(ast.Name(name), [first, *others], []) if name in CHOSEN and others:
                return reduce(CHOSEN[name], map(self.number, others), self.number(first))
            case ast.Name(name):
                value = self.names[name]
                if isinstance(value, torch.Tensor):
                    raise Refused(f"{name} is a tensor, and no size")
                return value
            case ast.Call(ast.Name("len"), [ast.Name(name)], []):
                return self.extent(self.tensor(name), 0)
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), dim):
                return self.extent(self.tensor(name), self.number(dim))
            case ast.Call(ast.Attribute(ast.Name(name), "size"), [dim], []):
                return self.extent(self.tensor(name), self.number(dim))
            case ast.Call(ast.Attribute(ast.Name(name), "numel"), [], []):
                return self.tensor(name).numel()
        raise Refused(f"{ast.unparse(tree)} is no whole number that follows from sizes")

    def tensor(self, name: str) -> torch.Tensor:
        value = self.names[name]
        if not isinstance(value, torch.Tensor):
            raise Refused(f"{name} is a number, and no tensor")
        return value

    def extent(self, tensor: torch.Tensor, dim: Any) -> Any:
        if type(dim) is not int or not -tensor.dim() <= dim < tensor.dim():
            raise Refused(f"a tensor of {tensor.dim()} dimensions has none with the number {dim}")
        return tensor.shape[dim]

    # ------------------------------------------------------------------------------------------------- of elements

    def whole_numbers(self, name: str) -> torch.Tensor:
        tensor = self.tensor(name)
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype == torch.bool:
            raise Refused(f"{name} is a tensor of {str(tensor.dtype).removeprefix('torch.')}, not of integers")
        return tensor

    def distinct(self, tree: ast.Call, text: str) -> Distinct:
        match tree:
            case ast.Call(_, [ast.Name(name)], []):
                return Distinct(text, self.whole_numbers(name))
            case ast.Call(_, [ast.Subscript(ast.Name(name), ast.Compare(left, [op], [right]))], []):
                tensor = self.whole_numbers(name)
                (sign,), sides = (SIGNS[type(o)] for o in known([op])), (left, right)
                own = [isinstance(side, ast.Name) and side.id == name for side in sides]
                if own == [True, False]:
                    return Distinct(text, tensor, sign, self.number(right))
                if own == [False, True]:
                    return Distinct(text, tensor, TURNED[sign], self.number(left))
        raise Refused("write distinct(tensor), or distinct(tensor[tensor >= 0])")

    def ascending(self, tree: ast.Call, text: str) -> Ascending:
        match tree:
            case ast.Call(_, [ast.Name(name)], []):
                return Ascending(text, self.whole_numbers(name))
        raise Refused("write ascending(tensor)")

    def elements(self, tree: ast.expr, name: str, text: str) -> Elements | Above:
        """A range of the elements, and single numbers that they may be besides; of reals, that they are above zero."""
        if self.tensor(name).dtype.is_floating_point:
            return self.above_zero(tree, name, text)
        tensor = self.whole_numbers(name)
        parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or) else [tree]
        ranges: list[dict[str, Any]] = []
        single: list[int] = []
        for part in parts:
            bounds = self.bounds(part, name)
            if set(bounds) != {"=="}:
                ranges.append(bounds)
            elif type(bounds["=="]) is int:
                single.append(bounds["=="])
            else:
                raise Refused(f"an element may be equal to numbers like -100 besides, not to {ast.unparse(part)}")
        if len(ranges) > 1:
            raise Refused("it has several ranges; write one, and single numbers (or labels == -100) besides")
        if not ranges:
            first, *single = single
            ranges = [{">=": first, "<=": first}]
        (found,) = ranges
        if "==" in found:
            raise Refused("an element cannot be equal to a number and be in a range at once")
        low = found[">="] if ">=" in found else found[">"] + 1 if ">" in found else None
        high = found["<="] if "<=" in found else found["<"] - 1 if "<" in found else None
        return Elements(text, tensor, low, high, tuple(single))

    def above_zero(self, tree: ast.expr, name: str, text: str) -> Above:
        tensor = self.tensor(name)
        bounds = self.bounds(tree, name)
        if [(sign, n) for sign, n in bounds.items() if type(n) is int] != [(">", 0)] or len(bounds) > 1:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise Refused(f"{name} is a tensor of {kind}, not of integers; of its elements only 0 < {name} can be said")
        return Above(text, tensor)

    def bounds(self, tree: ast.expr, name: str) -> dict[str, Any]:
        """What is on the other side of `element <`, `element >=` and the like; each sign once."""
        if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
            found = [pair for part in tree.values for pair in self.bounds(part, name).items()]
        elif isinstance(tree, ast.Compare):
            sides = (tree.left, *tree.comparators)
            found = []
            for left, op, right in zip(sides, known(tree.ops), sides[1:], strict=False):
                own = [isinstance(side, ast.Name) and side.id == name for side in (left, right)]
                if own == [True, False]:
                    found.append((SIGNS[type(op)], self.number(right)))
                elif own == [False, True]:
                    found.append((TURNED[SIGNS[type(op)]], self.number(left)))
                else:
                    raise Refused(f"{ast.unparse(tree)} does not compare an element of {name} with a number")
        else:
            raise Refused(f"{ast.unparse(tree)} is no comparison of an element of {name}")
        signs = [sign for sign, _ in found]
        lower, upper = (sum(s in signs for s in both) for both in ((">", ">="), ("<", "<=")))
        if "!=" in signs or len(set(signs)) < len(signs) or max(lower, upper) > 1:
            raise Refused(f"{ast.unparse(tree)} is no range; write one like 0 <= {name} < n")
        return dict(found)


def known(ops: Sequence[ast.cmpop]) -> Sequence[ast.cmpop]:
    """The comparisons, all of which have a meaning here. Raises Refused."""
    for op in ops:
        if type(op) not in COMPARED:
            raise Refused("only <, <=, >, >=, == and != compare here")
    return ops

