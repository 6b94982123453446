"""Questions for the solver: a claim as SMT-LIB text, and the process that answers.

A claim without folds, −∞ and operators without a meaning is put to the solver as a whole: indices within their extents,
sizes of at least their least values, and an element at which the sides differ. Tensors, roots and functions are any
functions whatever, and so is what has no value (a load out of range, 1/0): if the answer is `unsat`, the sides agree
wherever both are defined, at all sizes at once. The text is written here, from the claim and from nothing else.

Any other question that the first prover asked is text in the certificate. Nothing here ties it to its claim.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib.metadata import files
from typing import Any

from samesame import evaluator
from samesame.certificate.forms import require

SORTS = {"int": "Int", "real": "Real", "bool": "Bool"}
SIGNS = {"add": "+", "mul": "*", "<": "<", "≤": "<=", "=": "=", "max": ">=", "min": "<="}
UNTOLD = ("fold", "lambda", "opaque", "-inf")           # what the texts have no words for


@contextmanager
def asked(own: Sequence[str], others: Sequence[str]) -> Iterator[Callable[[], list[str]]]:
    """A fresh process that answers questions while other things are done; what is given waits for the answers.

    Our own come first, so that nothing in a text of someone else's can change what they mean."""
    for text in others:
        require(not re.search(r'["|]|set-option|include|reset|push|pop', text), "a question holds more than a question")
    program = next((str(file.locate()) for file in files("z3-solver") or () if file.name in ("z3", "z3.exe")), None)
    if not own and not others:
        yield list
        return
    require(program, "the solver's program is not there: install the package z3-solver")
    with tempfile.TemporaryFile() as questions:
        texts = [*(f"(push)\n{text}\n(pop)" for text in own), *(f"(reset)\n{text}" for text in others)]
        questions.write("\n".join(texts).encode())
        questions.seek(0)
        command = [str(program), "-in", "-t:20000", "-memory:4096"]
        with subprocess.Popen(command, stdin=questions, stdout=subprocess.PIPE, text=True) as solver:
            try:
                yield lambda: solver.communicate()[0].splitlines()
            finally:
                solver.kill()


def whole(claim: dict[str, Any]) -> str | None:
    """Is there an element at which the two sides of a claim differ? None where it cannot be told."""
    if any(row[0] in UNTOLD or (row[0] == "index" and place not in claim["indices"])
           for place, row in enumerate(claim["nodes"])):
        return None
    told = _Told(claim)
    for place, row in enumerate(claim["nodes"]):
        said, *facts = told.meaning(row, place)
        told.lines += [f"(define-fun v{place} () {SORTS[told.kinds[place]]} {said})", *(f"(assert {f})" for f in facts)]
    sides = (told.number(claim[side], "real") for side in ("left", "right"))
    return "\n".join([*told.lines, f"(assert (not (= {' '.join(sides)})))", "(check-sat)"])


class _Told:
    """A claim whose nodes have the names v0, v1, and so on."""

    def __init__(self, claim: dict[str, Any]) -> None:
        self.leaves, self.kinds = claim["leaves"], evaluator.kinds(claim)
        self.lines: list[str] = []

    def number(self, place: int, kind: str) -> str:
        """The node as a number of this kind; truths count as 1 and 0."""
        own = self.kinds[place]
        word = f"(ite v{place} 1 0)" if own == "bool" and kind != "bool" else f"v{place:d}"
        return f"(to_real {word})" if kind == "real" and own != "real" else word

    def any(self, name: str, kind: str, *arguments: str, of: str = "Int") -> str:
        """The value of a function of which nothing is known."""
        declaration = f"(declare-fun {name} ({' '.join([of] * len(arguments))}) {SORTS[kind]})"
        self.lines += [declaration] * (declaration not in self.lines)
        return f"({name} {' '.join(arguments)})" if arguments else name

    def meaning(self, row: list[Any], place: int) -> list[str]:
        """The value of a node in words, and what is known of it."""
        kind, own = self.kinds[place], f"v{place}"
        match row:
            case ["size", _, least]:
                return [self.any(f"n{place}", kind), f"(>= {own} {least:d})"]
            case ["index", _, extent]:
                return [self.any(f"i{place}", kind), f"(>= {own} 0)", f"(< {own} v{extent:d})"]
            case ["num", text]:
                q = Fraction(text)
                value = f"(/ {abs(q.numerator)}.0 {q.denominator}.0)" if kind == "real" else f"{abs(q.numerator)}"
                return [f"(- {value})" if q < 0 else value]
            case ["truth", value]:
                return [str(bool(value)).lower()]
            case ["named", "π"]:
                return [self.any("pi", kind)]
            case ["load", leaf, indices]:
                ends = self.leaves[leaf][3]
                said = self.any(f"leaf{leaf:d}", kind, *(self.number(p, "int") for p in indices))
                return [said, *([f"(<= v{ends[0]:d} {own} v{ends[1]:d})"] if ends else [])]
            case ["add" | "mul" as tag, parts]:
                return [f"({SIGNS[tag]} {' '.join(self.number(p, kind) for p in parts)})"]
            case ["pow", base, exponent]:
                e, unit, factor = Fraction(exponent), {"real": "1.0", "int": "1"}[kind], self.number(base, kind)
                if e.denominator > 1:
                    factor = self.any(f"root{e.denominator}", kind, factor, of="Real")
                power = f"(* {' '.join([unit, unit, *[factor] * abs(e.numerator)])})"
                return [f"(/ 1.0 {power})" if e < 0 else power]
            case ["fn", str(name), argument] if name.isascii() and name.isidentifier():
                return [self.any(f"f_{name}", kind, self.number(argument, "real"), of="Real")]
            case ["floordiv" | "mod" as tag, a, b]:
                times, rest = (self.any(f"{letter}{a:d}_{b:d}", kind) for letter in "qr")
                fact = f"(and (= v{a} (+ (* {times} v{b}) {rest})) (<= 0 {rest}) (< {rest} v{b}))"
                return [times if tag == "floordiv" else rest, f"(=> (> v{b} 0) {fact})"]
            case ["compare", sign, a, b]:
                wider = "real" if "real" in (self.kinds[a], self.kinds[b]) else "int"
                return [f"({SIGNS[sign]} {self.number(a, wider)} {self.number(b, wider)})"]
            case ["not", a]:
                return [f"(not v{a:d})"]
            case ["and" | "or" as tag, parts]:
                return [f"({tag} {' '.join(f'v{p:d}' for p in parts)})"]
            case ["where", condition, a, b]:
                return [f"(ite v{condition:d} {self.number(a, kind)} {self.number(b, kind)})"]
            case ["extremum", "max" | "min" as tag, parts]:
                said, words = self.any(f"m{place}", kind), [self.number(p, kind) for p in parts]
                return [said, *(f"({SIGNS[tag]} {own} {x})" for x in words),
                        f"(or {' '.join(f'(= {own} {x})' for x in words)})"]
        raise ValueError(f"{row[:2]} is no part of a formula")
