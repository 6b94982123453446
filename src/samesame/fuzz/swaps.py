"""Swaps on Python's syntax: operators replaced by the functions of torch that they stand for.

`a + b` becomes `torch.add(a, b)`, `x ** 0.5` becomes `torch.sqrt(x)`, inside `forward` only; comparisons are left
alone. An operator is swapped where one side is a tensor when the program runs, and means what it meant where it is not,
so that sizes and strings stay what they are. From "Equivalent Graph via Equivalent Operators".
"""

from __future__ import annotations

import ast

# The function of torch for each operator, and Python's own for what is no tensor.
BINARY = {
    ast.Add: ("add", "add"), ast.Sub: ("sub", "sub"), ast.Mult: ("mul", "mul"), ast.Div: ("div", "truediv"),
    ast.MatMult: ("matmul", "matmul"), ast.Pow: ("pow", "pow"),
}  # fmt: skip
UNARY = {ast.USub: ("neg", "neg"), ast.Not: ("logical_not", "not_"), ast.Invert: ("bitwise_not", "invert")}

# What the swapped text calls: the function of torch for tensors, the operator for anything else.
HELPERS = """
import operator as _operator


def _swapped(name, plain, *args):
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if not tensors or (name == "matmul" and len(tensors) < 2):
        return plain(*args)
    if name == "logical_not" and tensors[0].numel() != 1:
        return plain(*args)
    if name == "pow" and args[1] == 0.5:
        return torch.sqrt(args[0])
    first = args[0] if isinstance(args[0], torch.Tensor) else torch.as_tensor(args[0])
    return getattr(torch, name)(first, *args[1:])
"""


def swapped(text: str) -> tuple[str, int]:
    """The text with operators inside every `forward` swapped, and how many there were. Raises SyntaxError."""
    tree = ast.parse(text)
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            swap = _Swap()
            node.body = [swap.visit(statement) for statement in node.body]
            count += swap.count
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n{HELPERS}", count


class _Swap(ast.NodeTransformer):
    """Replaces operators in one function body, but for those in the conditions of branches and loops."""

    def __init__(self) -> None:
        self.count = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        names = BINARY.get(type(node.op))
        return self._call(names, node, node.left, node.right) if names else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        names = UNARY.get(type(node.op))
        constant = isinstance(node.operand, ast.Constant)
        return self._call(names, node, node.operand) if names and not constant else node

    def visit_If(self, node: ast.If | ast.While) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node

    visit_While = visit_If

    def _call(self, names: tuple[str, str], node: ast.expr, *operands: ast.expr) -> ast.AST:
        self.count += 1
        name, own = names
        plain = ast.Attribute(ast.Name("_operator", ast.Load()), own, ast.Load())
        call = ast.Call(ast.Name("_swapped", ast.Load()), [ast.Constant(name), plain, *operands], [])
        return ast.copy_location(call, node)
