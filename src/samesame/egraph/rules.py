"""Rules: equalities between patterns, written as a table that reads as mathematics.

    RULES = rules('''
        permute-permute   permute(permute(x; p); q)       = permute(x; compose(p, q))
        slice-of-concat   slice(concat(*xs; d); d, a, b)  = slice(xs[k]; d, a - low, b - low)
                              for k, low, high in places(xs, d) if low <= a and b <= high
        linear-of-concat  linear(x, concat(*ws; 0))       = concat(*[linear(x, w) for w in ws]; rank(x) - 1)
        odd-of-negation   odd(neg(x))                     = neg(odd(x))
    ''', compose, places, rank, odd=("sin", "tanh", "erf"))

A line is a name, a pattern, `=`, a term, and clauses. The left side is a pattern (see `pattern.py`). The right side
and the clauses are ordinary Python, with one addition: a call that stands where a term is expected makes that term.
So `*xs` splices, a comprehension maps, `xs[k]` picks, and `for` and `if` clauses mean what they mean in a
comprehension: the rule gives one right side for each round. In Python expressions a variable of the left side is an
`Operand` where it stands for a term (with `.type`), a tuple of them for `*xs`, and the value itself where it stands
for an attribute.

A rule rewrites from left to right, and the equality it states holds in both directions. A condition may look at
attributes and types, never at what a class holds, so that a rule's use can be checked from its substitution alone.
"""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from samesame.egraph.pattern import (
    Apply,
    Attribute,
    Family,
    Literal,
    Made,
    Several,
    Substitution,
    Variable,
    height,
    needs,
)
from samesame.egraph.terms import EGraphError


class RuleError(EGraphError):
    """A line of a rule table that cannot be read, or a rule whose condition or right side fails when it is used."""


class Operand(NamedTuple):
    """A term that a rule's variable stands for, as its conditions see it."""

    term: int
    type: Any


@dataclass(frozen=True, eq=False)
class Rule:
    """left = right. `right` takes the operands of the variables and gives every right side that the clauses allow.

    `kinds` says of each variable whether it stands for "a term", "terms", "an attribute", "attributes" or "an
    operator".
    """

    name: str
    left: Apply
    right: Callable[..., list[Made | int]]
    kinds: Mapping[str, str]
    text: str

    @cached_property
    def height(self) -> int:
        """How many levels below the root a change can make the left side match."""
        return height(self.left)

    @cached_property
    def needs(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """(1 + place, operators): the argument in that place must equal an application of one of the operators."""
        return needs(self.left)

    def apply(self, substitution: Substitution, type_of: Callable[[int], Any]) -> list[Made | int]:
        """Every right side under the substitution; none where a condition fails."""
        operands = dict(substitution)
        for name, kind in self.kinds.items():
            if kind == "a term":
                operands[name] = Operand(operands[name], type_of(operands[name]))
            elif kind == "terms":
                operands[name] = tuple([Operand(term, type_of(term)) for term in operands[name]])
        try:
            return self.right(**operands)
        except Exception as error:
            raise RuleError(f"rule {self.name} fails on {substitution}: {type(error).__name__}: {error}") from error

    def __str__(self) -> str:
        return f"{self.name}  {self.text}"


def rules(table: str, *functions: Callable[..., Any], **families: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of a table.

    `functions` may be called by name in attributes and clauses; the name of a family stands for its operators.

    A line that starts with `=`, `for`, `if`, `and` or `or` continues the line before it; `#` starts a comment. Raises
    RuleError.
    """
    helpers = {function.__name__: function for function in functions}
    named = {name: Family(name, tuple(sorted(operators))) for name, operators in families.items()}
    read = tuple(_rule(name, text, helpers, named) for name, text in _lines(table))
    unique(read)
    return read


def unique(rules: Iterable[Rule]) -> dict[str, Rule]:
    """The rules by name; an explanation names rules, so two must not share one."""
    found: dict[str, Rule] = {}
    for rule in rules:
        if found.setdefault(rule.name, rule) is not rule:
            raise RuleError(f"two rules are named {rule.name}; give each its own name")
    return found


# ------------------------------------------------------------------------------------------------------------- reading


def _lines(table: str) -> Iterable[tuple[str, str]]:
    joined: list[str] = []
    for line in table.splitlines():
        text = line.partition("#")[0].strip()
        if text and joined and text.split()[0] in ("=", "for", "if", "and", "or"):
            joined[-1] += " " + text
        elif text:
            joined.append(text)
    for line in joined:
        name, _, text = line.partition(" ")
        if not text:
            raise RuleError(f"rule {name} has no sides; write `name  pattern = term`")
        yield name, " ".join(text.split())


ATTRIBUTES = "__attributes__"         # stands for the semicolon, so that a side is a Python expression
MAKE = "__make__"                     # what a call that makes a term is compiled to

Helpers = Mapping[str, Callable[..., Any]]
Families = Mapping[str, Family]


def _rule(name: str, text: str, helpers: Helpers, families: Families) -> Rule:
    try:
        left, right, clauses = split(text)
        side = ast.parse(left, mode="eval").body
        kinds: dict[str, str] = {}
        pattern = _pattern(side, kinds, families)
        if not isinstance(pattern, Apply):
            raise RuleError("the left side applies no operator")
        code = _right_side(right, clauses, kinds, helpers, families)
    except (SyntaxError, RuleError, tokenize.TokenError) as error:
        raise RuleError(f"rule {name} cannot be read: {error} in `{text}`") from error
    return Rule(name, pattern, code, kinds, text)


def split(text: str) -> tuple[str, str, str]:
    """Left side, right side and clauses, each as Python text."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if depth == 0 and token.string == "=" and len(parts) == 1:
            parts.append([])
        elif depth == 0 and token.string in ("for", "if") and len(parts) == 2:
            parts.append([token.string])
        elif token.string == ";":
            parts[-1].append(f"{ATTRIBUTES}," if parts[-1][-1:] == ["("] else f", {ATTRIBUTES},")
        else:
            parts[-1].append(token.string)
    if len(parts) == 1:
        raise RuleError("there is no `=` between two sides")
    left, right, clauses = (" ".join(part).strip() for part in [*parts, []][:3])
    return left, right, clauses


def application(call: ast.Call) -> tuple[str, list[ast.expr], list[ast.expr]]:
    """Operator, arguments and attributes of `operator(arguments; attributes)`."""
    operator = ast.unparse(call.func)
    if call.keywords or not all(part.isidentifier() for part in operator.split(".")):
        raise RuleError(f"`{operator}` is not an operator applied to arguments and, after a semicolon, attributes")
    marks = [i for i, part in enumerate(call.args) if isinstance(part, ast.Name) and part.id == ATTRIBUTES]
    if len(marks) > 1:
        raise RuleError(f"{operator} has two semicolons")
    at = marks[0] if marks else len(call.args)
    return operator, call.args[:at], call.args[at + 1 :]


def _pattern(expr: ast.expr, kinds: dict[str, str], families: Families) -> Apply | Variable | Several:
    """The pattern that a left side, or an argument in one, writes down; `kinds` collects its variables."""
    match expr:
        case ast.Call():
            operator, arguments, attributes = application(expr)
            if operator in families:
                _declare(kinds, operator, "an operator")
            below = tuple(_pattern(argument, kinds, families) for argument in arguments)
            beside = tuple(_attribute(attribute, kinds) for attribute in attributes)
            if max(sum(isinstance(part, Several) for part in parts) for parts in (below, beside)) > 1:
                raise RuleError(f"{operator} has two starred variables side by side: there is no one way to match it")
            return Apply(families.get(operator, operator), below, beside)
        case ast.Name(name):
            return Variable(_declare(kinds, name, "a term"))
        case ast.Starred(ast.Name(name)):
            return Several(_declare(kinds, name, "terms"))
    raise RuleError(f"`{ast.unparse(expr)}` is neither a variable nor an operator applied to arguments")


def _attribute(expr: ast.expr, kinds: dict[str, str]) -> Attribute | Several | Literal:
    match expr:
        case ast.Name(name):
            return Attribute(_declare(kinds, name, "an attribute"))
        case ast.Starred(ast.Name(name)):
            return Several(_declare(kinds, name, "attributes"))
    try:
        return Literal(ast.literal_eval(expr))
    except ValueError:
        fault = f"the attribute `{ast.unparse(expr)}` is neither a variable nor a literal; put it in a condition"
        raise RuleError(fault) from None


def _declare(kinds: dict[str, str], name: str, kind: str) -> str:
    if kinds.setdefault(name, kind) != kind:
        raise RuleError(f"`{name}` stands for {kinds[name]} in one place and {kind} in another")
    return name


def _right_side(
    right: str, clauses: str, kinds: Mapping[str, str], helpers: Helpers, families: Families
) -> Callable[..., list[Made | int]]:
    """A function of the variables that lists the right sides: `[right for … if …]`, where calls make terms."""
    rounds = ast.parse(f"[{right} for {ATTRIBUTES} in (0,) {clauses}]", mode="eval").body
    assert isinstance(rounds, ast.ListComp)
    rounds.elt = _term(rounds.elt, families)
    known = {*kinds, *helpers, MAKE, *dir(builtins)}
    known |= {n.id for n in ast.walk(rounds) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for unknown in ast.walk(rounds):
        if isinstance(unknown, ast.Name) and unknown.id not in known:
            raise RuleError(f"`{unknown.id}` is no variable of the left side and no function given to the table")
    parameters = ast.arguments([], [ast.arg(name) for name in kinds], None, [], [], None, [])
    source = ast.fix_missing_locations(ast.Expression(ast.Lambda(parameters, rounds)))
    inner = eval(compile(source, "<rule>", "eval"), {**helpers, MAKE: _make})

    def function(**operands: Any) -> list[Made | int]:
        return [_settle(result) for result in inner(**operands)]

    return function


def _term(expr: ast.expr, families: Families) -> ast.expr:
    """The expression, where a term is expected: calls make terms; anything else is Python that must give an operand."""
    match expr:
        case ast.Call():
            operator, arguments, attributes = application(expr)
            head = ast.Name(operator, ast.Load()) if operator in families else ast.Constant(operator)
            below = [_term(argument, families) for argument in arguments]
            parts: list[ast.expr] = [head, ast.Tuple(attributes, ast.Load()), ast.Tuple(below, ast.Load())]
            return ast.Call(ast.Name(MAKE, ast.Load()), parts, [])
        case ast.Starred(ast.ListComp(elt, generators) | ast.GeneratorExp(elt, generators)):
            return ast.Starred(ast.ListComp(_term(elt, families), generators), ast.Load())
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, _term(body, families), _term(orelse, families))
    return expr


def _make(operator: str, attributes: tuple[Any, ...], arguments: Sequence[Any]) -> Made:
    if any(isinstance(attribute, Operand) for attribute in attributes):
        raise TypeError(f"{operator} takes a term as an attribute")
    return Made(operator, attributes, tuple([_settle(argument) for argument in arguments]))


def _settle(value: Any) -> Made | int:
    """What a term position gave: a new term's description, or the id of the term that an operand stands for."""
    if isinstance(value, Operand):
        return value.term
    if isinstance(value, Made):
        return value
    raise TypeError(f"{value!r} stands where a term is expected")
