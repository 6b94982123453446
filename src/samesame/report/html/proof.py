"""The proof of a relation as steps: what it starts from, what the operators mean, how the two formulas were found to be
one, what is assumed, and what follows. Where congruence carried it, its own steps, down to other relations.

Everything here was established by the run: evidence, claims and the e-graph's explanation. Steps that rest on another
relation lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from samesame.evidence import Because, Claim, Picture, Relation, Stands
from samesame.formula.equal import IDENTICAL
from samesame.report.words import counted, listed

DECIDED = ("normal form", "smt", "rule", "test")     # methods with a claim of their own
CASES = "for each of the "                           # how the detail of a proof by cases begins
SHOWN = 3                                            # questions of the solver that are shown
LONGEST = 3000                                       # letters of one
NORMAL = ("", "; this is the normal form of both", "; these are the normal forms of the left and the right")

Links = Mapping[str, str]                            # where each right tensor's relation is told


@dataclass(frozen=True, slots=True)
class Step:
    """A step: by what, in a sentence; the relations it rests on, each with its place if it is told; code, and more of
    it that is folded."""

    by: str
    words: str
    rests: tuple[tuple[str, str], ...] = ()
    code: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


def steps_of(relation: Relation, picture: Picture, links: Links) -> list[Step]:
    """The steps of a relation; none where its evidence is no more than one sentence."""
    found = relation.evidence
    key, stands = picture.decided.get(relation.right, ("", ()))
    because = picture.because.get(relation.right, ())
    if found.method in DECIDED and key in picture.claims:
        steps = list(_decided(relation, picture.claims[key], stands, links))
    elif found.method == "congruence" and because:
        steps = [_carried(step, links) for step in because]
    else:
        return []
    hence = f"{relation.right} = {relation.layout}, {found.rung}; from here on both are one tensor"
    return [*steps, *(Step("if", str(condition)) for condition in found.conditions), Step("hence", hence)]


def _decided(relation: Relation, claim: Claim, stands: tuple[Stands, ...], links: Links) -> Iterator[Step]:
    found = relation.evidence
    if stands:
        yield Step("related", "both sides hold what the claim starts from",
                   tuple((_pair(stand), links.get(stand.right, "")) for stand in stands))
    if claim.left is not None:
        yield Step("meaning", "what the operators down to there mean, put into one another, gives both formulas")
    if found.method == "rule":
        yield Step("rule", f"this claim was decided before, for other tensors or in an earlier run ({found.proof}); it "
                           "is an instance of that")
    if found.method == "test":
        yield Step("test", found.detail)
        return
    normal = claim.normal if len(claim.normal) == 1 or found.detail != IDENTICAL else ()    # else others met
    by = "cases" if found.detail.startswith(CASES) else "normal form"
    yield Step(by, f"{found.detail}{NORMAL[len(normal)]}", code=normal)
    if claim.questions:
        asked = counted(len(claim.questions), "question")
        cut = tuple(text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in claim.questions[:SHOWN])
        yield Step("solver", f"Z3 was asked {asked} about indices on the way, and found that none satisfy them",
                   folded=cut)


def _pair(stand: Stands) -> str:
    right = f" = {stand.right}" if stand.right else ""
    return f"{stand.variable}: {stand.left}{right}" if stand.left else f"{stand.variable}: {stand.right}"


def _carried(step: Because, links: Links) -> Step:
    rests = tuple((name, links.get(name, "")) for name in step.rests)
    steps = "step" if len(step.since) == 1 else "steps"
    since = f", by {steps} {listed(list(map(str, step.since)))}" if step.since else ""
    if step.reason == "congruence":
        return Step("congruence", f"{step.left}; {step.right}: one operator on equal tensors{since}", rests)
    if step.reason == "one term":
        return Step("congruence", f"{step.left}: both programs apply this to the same", rests)
    if step.reason == "identity":
        return Step("identity", f"{step.left} is {step.right}: over the reals a cast or a copy changes nothing", rests)
    if step.reason == "constant":
        return Step("constant", f"{step.left} and {step.right} are the same constant, bit for bit")
    if step.reason == "moved":
        return Step("moved", f"{step.left} and {step.right} hold the same elements of one tensor", rests)
    return Step("relation", f"{step.left} = {step.right}", rests)
