"""Swaps on Python's syntax: operators replaced by the functions of torch that they stand for.

`a + b` becomes `torch.add(a, b)`, `x ** 0.5` becomes `torch.sqrt(x)`, inside `forward` only; comparisons are left
alone. An operator is swapped where one side is a tensor when the program runs, and means what it meant where it is not,
so that sizes and strings stay what they are. From "Equivalent Graph via Equivalent Operators".
"""

from __future__ import annotations

import ast

BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul", ast.Pow: "pow"}
UNARY = {ast.USub: "neg", ast.Not: "logical_not", ast.Invert: "bitwise_not"}

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
PLAIN = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "truediv",
    "matmul": "matmul",
    "pow": "pow",
    "neg": "neg",
    "logical_not": "not_",
    "bitwise_not": "invert",
}


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
        name = BINARY.get(type(node.op))
        return self._call(name, node, node.left, node.right) if name else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        name = UNARY.get(type(node.op))
        constant = isinstance(node.operand, ast.Constant)
        return self._call(name, node, node.operand) if name and not constant else node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._body_only(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._body_only(node)

    def _body_only(self, node: ast.If | ast.While) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node

    def _call(self, name: str, node: ast.expr, *operands: ast.expr) -> ast.AST:
        self.count += 1
        plain = ast.Attribute(ast.Name("_operator", ast.Load()), PLAIN[name], ast.Load())
        call = ast.Call(ast.Name("_swapped", ast.Load()), [ast.Constant(name), plain, *operands], [])
        return ast.copy_location(call, node)
