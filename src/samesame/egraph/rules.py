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

from samesame.egraph.matcher import Matcher, compiled
from samesame.egraph.pattern import Apply, Attribute, Family, Literal, Made, Several, Substitution, Variable
from samesame.egraph.terms import EGraphError


class RuleError(EGraphError):
    """A line of a rule table that cannot be read, or a rule whose condition or right side fails when it is used."""


class Operand(NamedTuple):
    """A term that a rule's variable stands for, as its conditions see it."""

    term: int
    type: Any


@dataclass(frozen=True, eq=False)
class Rule:
    """left = right. `right` takes a function that gives a term's type, then the value of each variable, and gives every
    right side that the clauses allow.

    `kinds` says of each variable whether it stands for "a term", "terms", "an attribute", "attributes" or "an
    operator".
    """

    name: str
    left: Apply
    right: Callable[..., list[Made | int]]
    kinds: Mapping[str, str]
    text: str

    @cached_property
    def matcher(self) -> Matcher:
        """The left side as a function; its matches give the variables in the order of `kinds`."""
        return compiled(self.left, self.kinds)

    def results(self, values: Sequence[Any], type_of: Callable[[int], Any]) -> list[Made | int]:
        """Every right side for these values of the variables; none where a condition fails."""
        try:
            return self.right(type_of, *values)
        except Exception as error:
            bound = dict(zip(self.kinds, values, strict=True))
            raise RuleError(f"rule {self.name} fails on {bound}: {type(error).__name__}: {error}") from error

    def apply(self, substitution: Substitution, type_of: Callable[[int], Any]) -> list[Made | int]:
        """Every right side under the substitution; none where a condition fails."""
        return self.results([substitution[name] for name in self.kinds], type_of)

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
ID = "__id_"                          # before the name of a variable: the terms themselves, not as operands
TYPE_OF = "__type_of__"               # the function that gives a term's type
OPERANDS = {"a term": "__operand__", "terms": "__operands__"}

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
    """A function of `type_of` and the variables that lists the right sides: `[right for … if …]`, where calls make
    terms. Where terms are all that is made of the variables, as in most rules, their ids are enough; a variable that
    Python looks at is first made an operand."""
    rounds = ast.parse(f"[{right} for {ATTRIBUTES} in (0,) {clauses}]", mode="eval").body
    assert isinstance(rounds, ast.ListComp)
    anew = {node.id for node in ast.walk(rounds) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    terms = _Terms({name: kind for name, kind in kinds.items() if name not in anew}, families)
    rounds.elt = terms.made(rounds.elt)
    read = {node.id for node in ast.walk(rounds) if isinstance(node, ast.Name)}
    given = {name: ID + name if kind in OPERANDS else name for name, kind in kinds.items()}
    for unknown in sorted(read - {*kinds, *given.values(), *anew, *helpers, *MAKERS, *dir(builtins)}):
        raise RuleError(f"`{unknown}` is no variable of the left side and no function given to the table")
    operands = [name for name, kind in kinds.items() if kind in OPERANDS and name in read]
    rounds.generators[:0] = [_operand(name, OPERANDS[kinds[name]]) for name in operands]
    listed = rounds if operands or clauses else ast.List([rounds.elt], ast.Load())
    parameters = ast.arguments([], [ast.arg(name) for name in (TYPE_OF, *given.values())], None, [], [], None, [])
    source = ast.fix_missing_locations(ast.Expression(ast.Lambda(parameters, listed)))
    function: Callable[..., list[Made | int]] = eval(compile(source, "<rule>", "eval"), {**helpers, **MAKERS})
    return function


def _operand(name: str, maker: str) -> ast.comprehension:
    """`for x in (operand of x,)`: gives clauses and attributes the variable as they may look at it."""
    made = _call(maker, ast.Name(ID + name, ast.Load()), ast.Name(TYPE_OF, ast.Load()))
    return ast.comprehension(ast.Name(name, ast.Store()), ast.Tuple([made], ast.Load()), [], 0)


class _Terms:
    """Turns Python that stands where a term is expected into Python that gives one: calls make terms, variables are
    the terms they stand for, and anything else must give an operand. `kinds` are those of variables that are nowhere
    bound anew."""

    def __init__(self, kinds: Mapping[str, str], families: Families) -> None:
        self.kinds, self.families = kinds, families

    def made(self, expr: ast.expr) -> ast.expr:
        match expr:
            case ast.Call():
                return self.application(expr)
            case ast.Name(name) if self.kinds.get(name) == "a term":
                return ast.Name(ID + name, ast.Load())
            case ast.Starred(ast.Name(name)) if self.kinds.get(name) == "terms":
                return ast.Starred(ast.Name(ID + name, ast.Load()), ast.Load())
            case ast.Starred(ast.ListComp(elt, generators) | ast.GeneratorExp(elt, generators)):
                return ast.Starred(ast.ListComp(self.made(elt), generators), ast.Load())
            case ast.Starred(several):
                return ast.Starred(_call("__settled__", several), ast.Load())
            case ast.IfExp(test, body, orelse):
                return ast.IfExp(test, self.made(body), self.made(orelse))
        return _call("__settle__", expr)

    def application(self, call: ast.Call) -> ast.expr:
        operator, arguments, attributes = application(call)
        head = ast.Name(operator, ast.Load()) if operator in self.families else ast.Constant(operator)
        below = [self.made(argument) for argument in arguments]
        maker = "__made__" if all(map(self.is_attribute, attributes)) else "__make__"
        return _call(maker, head, ast.Tuple(attributes, ast.Load()), ast.Tuple(below, ast.Load()))

    def is_attribute(self, expr: ast.expr) -> bool:
        """Can this be nothing else than an attribute?"""
        names = [node.id for node in ast.walk(expr) if isinstance(node, ast.Name)]
        return all(self.kinds.get(name) in ("an attribute", "attributes") for name in names)


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _make(operator: str, attributes: tuple[Any, ...], arguments: tuple[Made | int, ...]) -> Made:
    if any(isinstance(attribute, Operand) for attribute in attributes):
        raise TypeError(f"{operator} takes a term as an attribute")
    return Made(operator, attributes, arguments)


def _settle(value: Any) -> Made | int:
    """What a term position gave: a new term's description, or the id of the term that an operand stands for."""
    if isinstance(value, Operand):
        return value.term
    if isinstance(value, Made):
        return value
    raise TypeError(f"{value!r} stands where a term is expected")


MAKERS: Mapping[str, Callable[..., Any]] = {
    "__made__": Made,
    "__make__": _make,
    "__settle__": _settle,
    "__settled__": lambda values: map(_settle, values),
    "__operand__": lambda term, type_of: Operand(term, type_of(term)),
    "__operands__": lambda terms, type_of: tuple([Operand(term, type_of(term)) for term in terms]),
}
