"""The same terms and rules for egglog: a second engine, to compare answers and times with.

One sort `T` holds every term; an operator becomes a constructor over its arguments and then its attributes, which
are integers. Only what egglog's language has can be said: fixed numbers of arguments, one right side, conditions in
comparisons and arithmetic.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterable
from pathlib import Path

from egglog.bindings import EGraph as Egglog

from samesame.egraph import EGraph, Rule
from samesame.egraph.rules import application, split

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%"}
COMPARISONS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=", ast.NotEq: "!="}


def load(graph: EGraph, rules: Iterable[Rule]) -> Egglog:
    """An egglog e-graph that holds every term and given equality so far, and the rules, not run yet.

    Term 7 is `(At 7)` there. Everything comes in by files, in one step: egglog rebuilds after every command, so that a
    command for each term or equality would cost the square of their number.
    """
    terms = {id: graph.term(id) for id in range(len(graph))}
    arity = {term.operator: (len(term.arguments), len(term.attributes)) for term in terms.values()}
    for rule in rules:
        for side in sides(rule)[:2]:
            arity |= _operators(side)
    program = ["(datatype T (At i64))"]
    with tempfile.TemporaryDirectory() as folder:
        for operator, (arguments, attributes) in arity.items():
            name = constructor(operator)
            rows = [(id, *t.arguments, *t.attributes) for id, t in terms.items() if t.operator == operator]
            Path(folder, f"{name}.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
            a, n = [f"a{i}" for i in range(arguments)], [f"n{i}" for i in range(attributes)]
            made = f"({name} {' '.join([*(f'(At {x})' for x in a), *n])})"
            program += [
                f"(constructor {name} ({' '.join(['T'] * arguments + ['i64'] * attributes)}) T)",
                f"(relation row_{name} ({' '.join(['i64'] * (1 + arguments + attributes))}))",
                f'(input row_{name} "{name}.tsv")',
                f"(rule ((row_{name} {' '.join(['id', *a, *n])})) ((union (At id) {made})) :ruleset load)",
            ]
        given = [f"{a}\t{b}\n" for pairs in graph.evidence.values() for a, b in sorted(pairs)]
        Path(folder, "given.tsv").write_text("".join(given))
        program += [
            "(relation given (i64 i64))",
            '(input given "given.tsv")',
            "(rule ((given a b)) ((union (At a) (At b))) :ruleset load)",
        ]
        engine = Egglog(fact_directory=folder)
        program.insert(0, "(ruleset load)")
        program.append("(run load 1)")
        run(engine, "\n".join([*program, *map(rewrite, rules)]))
    return engine


def run(engine: Egglog, text: str) -> None:
    """Run commands in egglog's own language."""
    engine.run_program(*engine.parse_program(text))


def constructor(operator: str) -> str:
    """The operator's name in egglog, away from its built-in names."""
    return "op_" + operator.replace(".", "_")


def sides(rule: Rule) -> tuple[ast.expr, ast.expr, list[ast.expr]]:
    """Left side, right side and conditions as Python expressions."""
    left, right, clauses = split(rule.text)
    condition = ast.parse(clauses.removeprefix("if ") or "()", mode="eval").body
    match condition:
        case ast.BoolOp(ast.And(), parts):
            conditions = parts
        case ast.Tuple([]):
            conditions = []
        case _:
            conditions = [condition]
    return ast.parse(left, mode="eval").body, ast.parse(right, mode="eval").body, conditions


def rewrite(rule: Rule) -> str:
    """The rule in egglog's language. Raises ValueError if it has no words for it.

    An attribute that the left side names twice is named once there, and compared last: egglog may join on any variable
    that two patterns share, and joins on a common size or dimension first, which pairs nearly everything with
    everything.
    """
    left, right, conditions = sides(rule)
    apart = Apart()
    left = apart.visit(left)
    told = [*map(expression, conditions), *(f"(= 0 (- {name} {other}))" for name, other in apart.equal)]
    when = f" :when ({' '.join(told)})" if told else ""
    return f"(rewrite {expression(left)} {expression(right)}{when})"


class Apart(ast.NodeTransformer):
    """A left side in which every attribute has a name of its own; `equal` says which are the same."""

    def __init__(self) -> None:
        self.named: set[str] = set()
        self.equal: list[tuple[str, str]] = []

    def visit_Call(self, call: ast.Call) -> ast.Call:
        _, arguments, attributes = application(call)
        mark = call.args[len(arguments) : len(call.args) - len(attributes)]
        own = [self.attribute(part) for part in attributes]
        return ast.Call(call.func, [*map(self.visit, arguments), *mark, *own], [])

    def attribute(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.Name) or part.id not in self.named:
            self.named |= {part.id} if isinstance(part, ast.Name) else set()
            return part
        other = f"{part.id}_{len(self.equal)}"
        self.equal.append((part.id, other))
        return ast.Name(other)


def expression(expr: ast.expr) -> str:
    """A side, or arithmetic in one, in egglog's language."""
    match expr:
        case ast.Call():
            operator, arguments, attributes = application(expr)
            return f"({' '.join([constructor(operator), *map(expression, [*arguments, *attributes])])})"
        case ast.Name(name):
            return name
        case ast.Constant(int(value)):
            return str(value)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            return str(-value)
        case ast.BinOp(left, operator, right):
            return f"({ARITHMETIC[type(operator)]} {expression(left)} {expression(right)})"
        case ast.Compare(left, [operator], [right]):
            return f"({COMPARISONS[type(operator)]} {expression(left)} {expression(right)})"
    raise ValueError(f"egglog has no words for `{ast.unparse(expr)}`")


def _operators(side: ast.expr) -> dict[str, tuple[int, int]]:
    """Every operator in a side, with its numbers of arguments and attributes."""
    calls = [application(call) for call in ast.walk(side) if isinstance(call, ast.Call)]
    return {operator: (len(arguments), len(attributes)) for operator, arguments, attributes in calls}
