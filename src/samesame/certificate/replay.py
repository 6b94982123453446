"""Replay: checks a certificate step by step, without searching for anything.

A certificate holds both graphs, a table of terms that spell out what their tensors are, and the steps that make the
roots equal. Each step equates two terms because (1) the same operator is applied to terms that earlier steps made
equal, or (2) a proof's block fits them: operator by operator, its two sides are the two terms, over a frontier of
equal terms, or (3) both programs compute the same constant, which is computed again, or (4) both hold the same elements
of equal terms, whose places are worked out again by the operators that move them. A proof says that the two sides
of its block are equal as formulas, and each proof is checked once, however many steps use it:

* the second prover works both formulas out at small sizes (evaluator.py);
* torch's operators are run on the block, against the formulas and side against side (runs.py);
* where the certificate says that the solver settles the claim, the question is written anew from the formulas alone,
  and a fresh process must answer it: that is a proof for all sizes which owes nothing to the first prover;
* otherwise any question that the first prover asked is asked again, in its own words (questions.py).

Where a tensor in front of a proof may be ±∞, a step names the proof of the same claim with masks there, any masks, and
both are checked. Where the second prover has no value for what an infinity makes, a step is checked for numbers alone,
and that is told.

Not checked, and listed as trusted: which tensors may be infinite, and which are of a sign; that a question in the first
prover's words is the right one for its claim; for all sizes, what only the first prover proved; and whatever else the
report names. Nothing here is shared with what made the certificate but the second prover and the reading of JSON; these
files and that one are all there is to audit.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from samesame import evaluator
from samesame.certificate import forms, questions, stored
from samesame.certificate.forms import Broken, Node, counted, digest, digest_of, kind_of, require, told, widened
from samesame.certificate.runs import DRAWS, Runs

__all__ = ["Broken", "Unreadable", "beside", "digest", "naming", "read", "replay"]

FORMAT, VERSION = "samesame certificate", 3
Report = tuple[list[str], list[str]]                    # what was checked, and what is trusted
Given = tuple[dict[str, Any], Mapping[str, Any]]        # a saved graph, and its tensors by name
TRUSTED = ["that the graphs are what the programs compute, at every size of the region",
           "that proofs are over real numbers: casts between real types are the identity in them",
           "that the second prover tries random values at small sizes: it refutes, and it proves nothing for all sizes",
           "which tensors may be infinite: what is in front of a proof is a number, unless it is there with masks of "
           "an infinity in front, too"]
LADDER = [
    "undecided",
    "tested",
    "same up to the rounding of stored numbers",
    "proved at these sizes",
    "proved for sizes like those run",
    "proved for all sizes",
]
ROUNDED, HALF = 2, 0.501                                # its place there; half a unit in the last place, and room
LAYOUTS = ("aten.reshape.default", "aten.permute.default", "aten.flip.default", "aten.slice.Tensor", "aten.cat.default",
           "aten.repeat.default", "aten.mul.Scalar", "aten.div.Scalar")         # and constant factors
SOURCES = ("input", "parameter", "constant", "uninitialised")
ORDERS = {"aten." + name for name in                   # of one meaning
          ("argmax", "argmin", "argsort", "kthvalue", "max", "median", "min", "sort", "topk")}
FILL = "aten.masked_fill.Scalar"
FILLED = {told([[{"slot": 0}, {"slot": 1}, value], []]) for value in ({"float": "-inf"}, {"float": "inf"})}
ALONE = told([[{"slot": 0}], []])
TAKES = {"aten." + name for name in ("index", "index_select", "gather", "take_along_dim", "embedding")}
MOVES = {"aten." + name for name in (
    "view", "_unsafe_view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "repeat", "tile",
    "slice", "permute", "transpose", "t", "numpy_T", "mT", "movedim", "select", "narrow", "flip", "roll", "split",
    "unbind", "cat", "split_with_sizes", "chunk", "stack", "unfold", "diagonal", "pixel_shuffle", "pixel_unshuffle")}
BITS = "aten.view.dtype"                                # moves nothing: it reads bits as another kind of number
OPEN = ("input", "parameter", "uninitialised")          # what a constant of the program depends on none of
OF_A_SIGN = {"aten.sigmoid.default": "between 0 and 1", "aten.exp.default": "above 0",
             "aten.abs.default": "not below 0"}
CHOSEN = "aten.where.ScalarSelf"                        # labels: the number that a loss ignores, or a class
BYTE = 0, 255                                           # what a uint8 is between, whoever says so
LARGE = 1 << 25                                         # elements of a tensor that is not worked out


class Unreadable(Broken):
    """What is no certificate at all, or one of another version."""


def read(path: Path) -> Any:
    """The JSON of a file, gzipped or not; raises Unreadable where there is none."""
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as fault:
        why = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        raise Unreadable(f"it cannot be read as a certificate ({why})") from fault


def naming(form: dict[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """A certificate that names files that hang on it, too, with digests of their texts."""
    whole = {**{key: value for key, value in form.items() if key != "seal"}, "files": dict(files)}
    return {**whole, "seal": digest(whole)}


def beside(form: dict[str, Any], folder: Path) -> str:
    """What is to be said of the files that a certificate names, in the folder in which it lies. Raises Broken where one
    of those that lie there is not as it was."""
    files = form.get("files", {})
    require(isinstance(files, dict), "the files that it names are no object")
    there = {name: digest for name, digest in files.items() if Path(name).name == name and (folder / name).is_file()}
    for name, known in there.items():
        text = (folder / name).read_text(encoding="utf-8", errors="replace")
        require(forms.digest_of_text(text) == known, f"{name} beside it is not the one that it was saved with")
    missing = f"; {', '.join(sorted({*files} - {*there}))} not there" if len(there) < len(files) else ""
    return f"{', '.join(there)} beside it as they were saved{missing}" if there else ""


def replay(form: Any, graphs: tuple[Given, Given] | None = None) -> Report:
    """What was checked and what is trusted; `graphs` are those that were compared, at the sizes of the example.

    Raises Broken where the certificate does not hold, Unreadable where it is none of this version.
    """
    if not isinstance(form, dict) or form.get("format") != FORMAT:
        raise Unreadable("this is no certificate of samesame")
    if form.get("version") != VERSION:
        raise Unreadable(f"the certificate has version {form.get('version')!r}, and this samesame reads {VERSION}")
    try:
        return _Replay(form).run(graphs)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, AssertionError) as fault:
        raise Broken("the certificate is malformed: something is not as `check --certificate` writes it") from fault


def stands(name: str, proof: dict[str, Any], constants: Mapping[str, torch.Tensor]) -> bool:
    """Whether what is checked of a proof by itself holds; `constants` are those that its block speaks of."""
    alone = _Replay({"terms": [], "proofs": {name: proof}})
    alone.constants = {**constants}
    try:
        alone.proof(name, proof)
    except Broken:
        return False
    return True


class _Replay:
    def __init__(self, form: dict[str, Any]) -> None:
        self.form, self.terms, self.proofs = form, form["terms"], form["proofs"]
        self.text = told({k: v for k, v in form.items() if k != "seal"})
        self.said = [(kind, told(attributes[:2]), told(attributes[2:]), told(type_))
                     for kind, attributes, _, type_ in self.terms]
        self.blocks = {name: forms.nodes_of(proof["block"]) for name, proof in self.proofs.items()}
        self.parent = list(range(len(self.terms)))
        self.constants: dict[str, torch.Tensor] = {}            # by digest
        self.held: dict[int, torch.Tensor] = {}                 # the same by term
        self.computed: dict[int, list[torch.Tensor]] = {}       # what closed terms of the graphs are
        self.trusted, self.signs = list(TRUSTED), Counter[tuple[str, str]]()
        self.read: dict[str, Any] = form.get("read", {})        # stored numbers that stand for formulas, by side

    def run(self, graphs: tuple[Given, Given] | None) -> Report:
        form, proofs = self.form, self.proofs
        require(form["seal"] == forms.digest_of_text(self.text), "the certificate was changed")
        settled = [name for name, proof in proofs.items() if proof["settled"]]
        whole = [questions.whole(proofs[name]["claim"]) for name in settled]
        require(all(whole), "the solver has no words for a claim that it settles")
        others = [query for proof in proofs.values() for query in proof["queries"]]
        with questions.asked([*map(str, whole)], others) as answers:
            self.structure(graphs)
            for number, step in enumerate(form["steps"], 1):
                self.step(number, *step)
            self.roots()
            infinite = [step[2]["masked"] for step in form["steps"] if "masked" in step[2]]
            masked = [name for name in infinite if name is not None]
            used = {step[2]["proof"] for step in form["steps"] if "proof" in step[2]} | {*masked}
            require(used == set(proofs), "the proofs are not those that the steps use")
            for name, proof in proofs.items():
                require(name == "P" + digest(proof)[:16], f"proof {name} was changed")
                self.proof(name, proof)
            conditions = sorted({condition for proof in proofs.values() for condition in proof["conditions"]})
            require(conditions == form["conditions"], "the conditions are not those of the proofs")
            self.rungs(form["evidence"], [proof["rung"] for proof in proofs.values()])
            found = answers()
            require(len(found) == len(whole) + len(others), "the solver cannot read a question of the proofs")
            for answer in found:
                require(answer == "unsat", f"the solver answers {answer} to a question of a proof")
        if of_numbers := [name for name in infinite if name is None]:
            self.trusted.append(f"{counted(of_numbers, 'step')} where what is in front may be infinite: what is "
                                "replayed is about numbers, and infinities are not replayed")
        self.trusted += [f"that what {made} makes lies {sign}, wherever it has a value, in front of "
                         f"{counted(n * [sign], 'proof')}" for (made, sign), n in self.signs.items()]
        self.trusted += ["z3, which answers the questions"] if whole or others else []
        of_outputs = form.get("of_outputs", [])                # of no proof: that what is compared is a number
        self.trusted += ["that no other condition on numbers that are compared is needed"] if of_outputs else []
        self.trusted += ["that the first prover's own questions are the right ones"] if others else []
        checked = [f"every output {form['evidence']}: {self.scope()}",
                   *(f"provided that {condition}" for condition in (*conditions, *of_outputs)),
                   f"{counted(form['roots'], 'output')} equal by {counted(form['steps'], 'step')} over "
                   f"{counted(self.terms, 'term')}",
                   f"{counted(proofs, 'proof')} by the second prover, and their formulas against torch's operators",
                   f"{len(settled)} of them by a fresh solver process, from their formulas alone",
                   f"{counted(others, 'other question')} by that process",
                   *([f"{counted(masked, 'step')} by proofs with any masks of an infinity in front, too"]
                     if masked else [])]
        return checked + (["both graphs and their tensors against the files given"] if graphs else []), self.trusted

    def scope(self) -> str:
        """The inputs that the claim is about."""
        inputs = [[n for n in self.form[side]["graph"]["nodes"] if n["operator"] == "input"]
                  for side in ("left", "right")]
        names = [a["name"] if a["name"] == b["name"] else f"{a['name']} (right: {b['name']})"
                 for a, b in zip(*inputs, strict=True)]
        shapes = [f"{name} [{', '.join(map(forms.spoken, node['type'][1]))}]"
                  for name, node in zip(names, inputs[0], strict=True)]
        return ", ".join(shapes) + (f" for every {self.region()}" if self.form["sizes"] else "")

    def region(self) -> str:
        """The sizes that the claim is about; where some decision on them was not followed, those like the runs'."""
        region = self.form["region"]
        bounds = [f"{name} ≥ {low}" if high is None else f"{low} ≤ {name} ≤ {high}"
                  for name, (low, high) in region["bounds"].items()]
        conditions = [f"{forms.spoken(left)} {op} {forms.spoken(right)}" for op, left, right in region["conditions"]]
        return ", ".join(bounds) + (f", with {', '.join(conditions)}" if conditions else "")

    def rungs(self, claimed: str, proofs: list[str]) -> None:
        """The verdict is worth no more than the weakest of its proofs, and holds for all sizes only over symbols."""
        require(all(rung in LADDER for rung in [claimed, *proofs]), "the certificate claims no known evidence")
        weakest = min(map(LADDER.index, proofs), default=LADDER.index(claimed))
        require(0 < LADDER.index(claimed) <= weakest, f"a proof is {LADDER[weakest]} only, not {claimed}")
        require(claimed not in LADDER[-2:] or self.form["sizes"], "no size varies, so none is proved for all sizes")
        require(claimed != LADDER[-1] or not self.form["not_followed"], "decisions on sizes were not followed")

    # ---------------------------------------------------------------------------------------------------- the structure

    def structure(self, graphs: tuple[Given, Given] | None) -> None:
        """The terms spell out the graphs, and the graphs are those given."""
        form, self.closed = self.form, list[bool]()
        for number, (kind, _, arguments, type_) in enumerate(self.terms):
            require(all(0 <= a < number for a in arguments), f"term {number} is built from terms after it")
            self.closed.append(kind not in OPEN and all(self.closed[a] for a in arguments))
            parts = type_ if isinstance(type_, list) else [type_]
            kinds = {*forms.WIDEST, *forms.NARROW}
            require(all(part["kind"] in kinds for part in parts), "a term has no kind of number")
        for name, value in form["constants"].items():
            self.constants[name] = forms.value_of(value)
            require(digest_of(self.constants[name]) == name, "a constant is not the one that its name says")
        self.places: dict[str, list[int]] = {}                  # the terms of each constant
        for number, (kind, attributes, _, type_) in enumerate(self.terms):
            if kind == "constant":
                self.places.setdefault(attributes[0], []).append(number)
                if (value := self.constants.get(attributes[0])) is not None:
                    self.held[number] = value
                    same = type_ == {"shape": list(value.shape), "kind": kind_of(value.dtype)}
                    require(same, "a constant is of another type than its value")
        declared = forms.symbols([node for node in form["left"]["graph"]["nodes"] if node["operator"] == "input"])
        require({name for name, _ in declared} == set(form["sizes"]), "the sizes are not those of the inputs")
        require(len(declared) == len(form["sizes"]), "one size has two least values")
        require(forms.symbols(self.text) <= declared, "a size is not one of the inputs'")
        require(all(form["sizes"][name] >= least >= 1 for name, least in declared), "the example is below its sizes")
        bounds = form["region"]["bounds"]
        require(set(bounds) == set(form["sizes"]), "the region is not one of the sizes that vary")
        require(all(bounds[name][0] >= least for name, least in declared), "the region is wider than what is proved")
        require(all(low <= form["sizes"][name] and (high is None or form["sizes"][name] <= high)
                    for name, (low, high) in bounds.items()), "the example is not in the region")
        for k, side in enumerate(("left", "right")):
            part = form[side]
            require(part["identity"] == digest(part["graph"]), f"the {side} graph is not the one certified")
            require(part["loaded"] == digest(part["tensors"]), f"the {side} tensors are not those certified")
            self.graph(side, part)
            if graphs is not None:
                self.given(side, *graphs[k])
        self.weights(self.stored(graphs))

    def replaced(self, side: str) -> set[str]:
        """What a number stands for under its own name."""
        return {one["node"] for one in self.read[side]["stored"] if one["node"] == one["stands"]}

    def stored(self, graphs: tuple[Given, Given] | None) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Stored numbers lie as near to the formulas that they are read as, as the certificate says; the tensors of
        both certified graphs, where graphs are given."""
        claimed = [one for part in self.read.values() for one in part["stored"]]
        rounded = not claimed or LADDER.index(self.form["evidence"]) <= ROUNDED
        require(rounded, f"stored numbers are read as formulas, so the outputs are no more than the {LADDER[ROUNDED]}")
        if graphs is None:
            self.trusted += [f"that {one['node']} is a rounding of {one['words']}: give the graphs to have it checked"
                             for one in claimed]
            return None
        known = {digest_of(value): value for _, tensors in graphs for value in tensors.values()} | self.constants
        for side, (graph, tensors) in zip(("left", "right"), graphs, strict=True):
            if side in self.read:
                stored.require_roundings(self.form[side], self.read[side], tensors, known, self.form["sizes"], graph)
        self.trusted += [f"that rounding may carry {one['node']} {one['most']:.2g} units from {one['words']}"
                         for one in claimed if one["most"] > HALF]
        left, right = ({**tensors, **{name: known[named] for name, named in self.form[side]["tensors"].items()
                                      if name not in tensors and named in known}}
                       for side, (_, tensors) in zip(("left", "right"), graphs, strict=True))
        return left, right

    def graph(self, side: str, part: dict[str, Any]) -> None:
        """Every node's term spells out what the node says, over the terms of what it reads."""
        terms, inputs, values = part["terms"], 0, dict[str, Any]()
        nodes = forms.nodes_of(part["graph"])
        require(sorted(terms) == sorted(node.name for node in nodes), f"{side} has other tensors")
        for node in nodes:
            name, term = node.name, terms[node.name]
            what = f"the term of {name} in the {side} graph is not what the graph says"
            kind, attributes, *_ = self.terms[term]
            require(self.said[term][3] == node.type, what)
            if node.operator == "input":
                require((kind, attributes) == ("input", [inputs]), what)
                inputs += 1
            elif node.operator == "constant":
                require(self.closed[term], what)
                self.constant(side, name, part["tensors"][name], term)
            elif not (node.operator == "parameter" and side == "right" and name in self.form["weights"]) and not (
                    node.is_identity and term == terms[node.reads[0]]):
                free = (kind, attributes) == ("uninitialised", [side, name])
                require(not forms.is_random(node.form), f"{node.operator} draws random numbers, so it is no function")
                said = (kind, attributes) == (node.operator, [side, name]) if node.operator in SOURCES else (
                    self.fits(node, term, [terms[read] for read in node.reads]))
                require(free or said, what)
            if self.closed[term] and not forms.symbols(node.form):
                self.compute(node, values, term)

    def fits(self, node: Node, term: int, arguments: list[int]) -> bool:
        """Is the term the node's operator, of terms equal to these?"""
        kind, attributes, read_types, _ = self.said[term]
        mine = self.terms[term][2]
        return (kind, attributes) == (node.operator, node.said) and read_types in ("[]", node.read_types) and (
            len(mine) == len(arguments) and all(map(self.same, mine, arguments)))

    def constant(self, side: str, name: str, named: str, term: int) -> None:
        found = self.value(term, self.held)
        if found is not None:
            require(digest_of(found) == named, f"{name} in the {side} graph is another constant")
        elif self.terms[term][:2] != ["constant", [named]]:
            self.trusted.append(f"that {name} in the {side} graph is the constant it is said to be")

    def compute(self, node: Node, values: dict[str, Any], term: int) -> None:
        """What a closed node of a graph computes, in its own dtypes, where the values of its constants are held."""
        if node.operator == "constant":
            value = self.value(term, self.held)
            if value is not None:
                values[node.name] = value.to(getattr(torch, node.form["type"][0]))
        elif all(read in values for read in node.reads) and forms.is_run(node.form, LARGE, {}):
            values[node.name] = forms.call_of(node.form, {}, lambda dtype: dtype)(values)
        if isinstance(value := values.get(node.name), torch.Tensor):
            self.computed.setdefault(term, []).append(widened(value))

    def value(self, term: int, given: Mapping[int, torch.Tensor]) -> torch.Tensor | None:
        """What is given, or a layout of it, of the type that the term says; None for anything else."""
        kind, attributes, arguments, type_ = self.terms[term]
        if term in given:
            return given[term]
        parts = [self.value(a, given) for a in arguments] if kind in LAYOUTS else [None]
        if any(part is None for part in parts):
            return None
        found: torch.Tensor = forms.operator(kind)(*forms.argument_of(attributes[0], {"slot": parts.__getitem__}))
        require(type_ == {"shape": list(found.shape), "kind": kind_of(found.dtype)}, f"term {term} is of another type")
        return found

    def weights(self, tensors: tuple[Mapping[str, Any], Mapping[str, Any]] | None) -> None:
        """Each right weight is a layout of left weights, and nothing else; with the tensors given, their elements."""
        left, right = self.form["left"], self.form["right"]
        names = {left["terms"][n["name"]]: n["name"] for n in left["graph"]["nodes"] if n["operator"] == "parameter"}
        loaded = {term: widened(tensors[0][name]) if tensors else forms.without_elements(self.terms[term][3])
                  for term, name in names.items()}
        for name, term in self.form["weights"].items():
            what = f"the right weight {name} is no layout of left weights"
            value = self.value(term, loaded)
            require(right["terms"][name] == term and value is not None, what)
            if term in names:
                same = right["tensors"][name] == left["tensors"][names[term]]
                require(same, f"the right weight {name} has other values than the left {names[term]}")
            elif tensors:
                same = value is not None and digest_of(value) == right["tensors"][name]
                require(same, f"the right weight {name} is not the layout of left weights it is said to be")
            else:
                self.trusted.append(f"that the right weight {name} is the layout of left weights it is said to be")

    def given(self, side: str, graph: dict[str, Any], tensors: Mapping[str, Any]) -> None:
        """The certified graph at the sizes of the example is the one given, whatever the order of its inputs."""
        mine, sizes, what = self.form[side], self.form["sizes"], f"the {side} graph given is another than certified"
        if side in self.read:
            stored.held_against(mine["graph"], graph, self.read[side], sizes, what)
            for name, named in mine["tensors"].items():
                same = name not in tensors or name in self.replaced(side) or digest_of(tensors[name]) == named
                require(same, f"{name} of the {side} graph given holds other values")
            return
        nodes = {node["name"]: node for node in graph["nodes"]}
        roots = [mine["graph"]["roots"], graph["roots"]]
        require(len(nodes) == len(mine["graph"]["nodes"]) and sorted(roots[0]) == sorted(roots[1]), what)
        require(side == "right" or roots[0] == roots[1], what)
        for node in mine["graph"]["nodes"]:
            yours = {key: value for key, value in nodes[node["name"]].items() if key != "origin"}
            if (node["operator"], yours["operator"]) == ("parameter", "constant"):
                yours["operator"] = "parameter"             # a buffer that was certified whatever it holds
            require(forms.is_at(node, yours, sizes), f"{what} (at {node['name']})")
        for name, named in mine["tensors"].items():
            require(digest_of(tensors[name]) == named, f"{name} of the {side} graph given holds other values")

    # -------------------------------------------------------------------------------------------------------- the steps

    def find(self, term: int) -> int:
        while self.parent[term] != term:
            self.parent[term] = term = self.parent[self.parent[term]]
        return term

    def same(self, a: int, b: int) -> bool:
        return self.find(a) == self.find(b)

    def step(self, number: int, a: int, b: int, reason: dict[str, Any]) -> None:
        what = f"step {number} does not hold"
        require(min(a, b) >= 0, f"{what}: it names no term")
        mine, yours, xs, ys = self.said[a], self.said[b], self.terms[a][2], self.terms[b][2]
        require(mine[3] == yours[3], f"{what}: the two terms have different types")
        if reason == {"congruence": True}:
            require(mine == yours, f"{what}: the operators or their attributes differ")
            require(len(xs) == len(ys) and all(map(self.same, xs, ys)), f"{what}: the arguments are not equal before")
        elif reason == {"constant": True}:
            require(self.closed[a] and self.closed[b], f"{what}: one of the terms is no constant")
            held = self.digests(a), self.digests(b)
            require(held[0] & held[1] or not all(held), f"{what}: the two constants are computed and differ")
            if not all(held):
                self.trusted.append(f"that the programs compute the constant of step {number}")
        elif "moved" in reason:
            ends = [reason["terms"].get(side) for side in ("left", "right")]
            require(all(type(end) is int and 0 <= end < len(self.terms) for end in ends), f"{what}: it names no terms")
            require(self.same(*ends), f"{what}: elements of two tensors are moved, and these are not equal before")
            places = [self.moved(what, *pair) for pair in zip((a, b), ends, strict=True)]
            known = all(one is not None for one in places)
            require(not known or torch.equal(*places), f"{what}: they hold other elements")
            if not known:
                self.trusted.append(f"that the tensors of step {number} hold the same elements")
        else:
            require(reason["proof"] in self.proofs, f"{what}: it names a proof that is not there")
            self.instance(what, a, b, reason["proof"], reason["terms"])
            if (masked := reason.get("masked")) is not None:
                require(masked in self.proofs, f"{what}: it names a proof that is not there")
                same = self.is_masked(reason["proof"], masked)
                require(same, f"{what}: what is proved with masks in front is another claim")
        self.parent[self.find(a)] = self.find(b)

    def moved(self, what: str, term: int, source: int) -> Any:
        """The places in a source of the elements that a term holds; None where it takes them by a constant whose value
        is not held."""
        kind, attributes, arguments, type_ = self.terms[term]
        if term == source:
            require(math.prod(type_["shape"]) <= LARGE, f"{what}: too many elements")
            return torch.arange(math.prod(type_["shape"])).reshape(type_["shape"])
        packet, slots = kind.rpartition(".")[0], [{"slot": k} for k in range(len(arguments))]
        takes = packet in TAKES and attributes[0][0] == slots[0] and "slot" not in told(attributes[1])
        alone = len(slots) == 1 and attributes[0][0] == slots[0]
        together = packet in ("aten.cat", "aten.stack") and attributes[0][0] == slots
        moves = (packet in MOVES and kind != BITS) or kind == "getitem"
        require(takes or (moves and (alone or together)), f"{what}: {kind} does more than move elements")
        of = arguments[:1] if takes else arguments
        parts = [self.moved(what, part, source) for part in of] + [self.taken_by(part) for part in arguments[len(of):]]
        if any(part is None for part in parts):
            return None
        args, kwargs = (forms.argument_of(given, {"slot": parts.__getitem__}) for given in attributes[:2])
        if kind == "getitem":
            return args[0][args[1]]
        found = forms.operator(kind)(*args, **dict(kwargs))
        require(isinstance(type_, list) or list(found.shape) == type_["shape"], f"{what}: {kind} gives another shape")
        return found

    def taken_by(self, term: int) -> torch.Tensor | None:
        """The value of a constant, where it is held or computed."""
        require(self.closed[term], "elements are taken by what is no constant")
        known = [*self.computed.get(term, ()), *([self.held[term]] if term in self.held else [])]
        kind, attributes, arguments, type_ = self.terms[term]
        if known or kind == "constant":
            return known[0] if known else None
        parts = [self.taken_by(part) for part in arguments]
        if any(part is None for part in parts) or forms.operator(kind) is None:
            return None
        readers = {"slot": parts.__getitem__, "dtype": lambda name: getattr(torch, name)}
        args, kwargs = (forms.argument_of(given, readers) for given in attributes[:2])
        found: torch.Tensor = forms.operator(kind)(*args, **dict(kwargs))
        require(type_ == {"shape": list(found.shape), "kind": kind_of(found.dtype)}, f"term {term} is of another type")
        return found

    def digests(self, term: int) -> set[str]:
        """What is known of a closed term's elements."""
        if self.terms[term][0] == "constant":
            return {self.terms[term][1][0]}
        value = self.value(term, self.held)
        return set(map(digest_of, [*self.computed.get(term, ()), *([] if value is None else [value])]))

    def instance(self, what: str, a: int, b: int, proof: str, terms: dict[str, int]) -> None:
        """The block of a proof, over these terms, is the claim that a = b."""
        block, nodes = self.proofs[proof]["block"], self.blocks[proof]
        free = {node.name for node in nodes if node.operator == "input" and node.name not in terms}
        named = {block["left"], block["right"]} <= terms.keys() == {node.name for node in nodes} - free
        require(named, f"{what}: it does not name a tensor for each operator of the proof")
        read = [name for node in nodes for name in node.reads if name in free]
        require(sorted(read) == sorted(free), f"{what}: a number that stands for no tensor is not read once")
        for node in nodes:
            if node.name in free:
                continue
            name, term = node.name, terms[node.name]
            require(term >= 0, f"{what}: it names no term")
            require(self.said[term][3] == node.type, f"{what}: the proof is about tensors of another shape")
            if node.operator == "constant":
                held = self.places.get(block["constants"][name], ())
                require(any(self.same(t, term) for t in held), f"{what}: {name} is another constant")
            elif free.issuperset(node.reads) and node.operator == CHOSEN:
                kinds = [n.form["type"][0] for read in node.reads for n in nodes if n.name == read]
                require(kinds == ["bool", node.form["type"][0]], f"{what}: labels are made of more than classes")
                self.trusted.append(f"that {name} of proof {proof} holds no numbers but those a loss has a value for")
            elif free.intersection(node.reads):
                alike = [(node.said, n.type) for n in nodes if n.name in node.reads] == [(ALONE, node.type)]
                made = self.terms[term][0]
                require(alike and node.operator in OF_A_SIGN and made not in OPEN,
                        f"{what}: the proof has an operator of no tensor, or a sign of one that is given")
                self.signs[made, OF_A_SIGN[node.operator]] += 1
            elif node.operator != "input" and not (node.is_identity and terms[node.reads[0]] == term):
                require(self.fits(node, term, [terms[read] for read in node.reads]),
                        f"{what}: the proof is about another operator, or other arguments, than {self.said[term][0]}")
        require((terms[block["left"]], terms[block["right"]]) == (a, b), f"{what}: the proof is about other tensors")

    def is_masked(self, proof: str, masked: str) -> bool:
        """Is the one block the other with masks of −∞ or ∞ in front of inputs, and the same but for these?"""
        filled, masks, rest = dict[str, str](), set[str](), list[tuple[Any, ...]]()
        own = {node.name for node in self.blocks[proof]}
        for node in self.blocks[masked]:
            reads = [filled.get(read, read) for read in node.reads]
            if node.name not in own and node.operator == "input":
                masks.add(node.name)
            elif node.operator == FILL and len(reads) == 2 and node.name not in own:
                if node.reads[1] not in masks or reads[0] not in own or node.said not in FILLED:
                    return False
                filled[node.name] = reads[0]
            else:
                rest.append((node.name, node.operator, node.said, node.type, reads))
        there = [(n.name, n.operator, n.said, n.type, n.reads) for n in self.blocks[proof]]
        sides = [[self.proofs[name]["block"][side] for side in ("left", "right")] for name in (proof, masked)]
        return bool(filled) and rest == there and [filled.get(side, side) for side in sides[1]] == sides[0]

    def roots(self) -> None:
        """Every output of both graphs, pair by pair."""
        left, right = (self.form[side]["graph"]["roots"] for side in ("left", "right"))
        names = [name for name, *_ in self.form["roots"]]
        require(names == [name for name, _ in left], "the outputs are not those of the graph")
        for (name, a, b), (_, mine), (_, yours) in zip(self.form["roots"], left, right, strict=True):
            fits = (a, b) == (self.form["left"]["terms"][mine], self.form["right"]["terms"][yours])
            require(fits, f"output {name} is not the tensor that the graphs return")
            require(self.same(a, b), f"the steps do not make output {name} equal on both sides")

    # ------------------------------------------------------------------------------------------------------- the proofs

    def proof(self, name: str, proof: dict[str, Any]) -> None:
        """The second prover on the two formulas; torch on the block, against them and one side against the other."""
        claim, sizes = proof["claim"], {name: max(2, least) for name, least in forms.symbols(proof)}
        asks = proof["queries"] or proof["settled"]
        require(proof["method"] != "smt" or asks, f"proof {name} names a solver and asks it nothing")
        unknown = [node.operator for node in self.blocks[name] if not forms.is_run(node.form, LARGE, sizes)]
        places: list[tuple[dict[str, int], evaluator.Grid | None]] = []
        if proof["rung"] == "tested":
            self.trusted.append(f"that the operators of proof {name} are functions, equal where they were tested")
        else:
            require(claim, f"proof {name} has no formulas")
            bytes_ = {node.form["name"] for node in self.blocks[name]
                      if node.operator == "input" and node.form["type"][0] == "uint8"}
            for leaf, _, _, ends in claim["leaves"]:
                low, high = (forms.bound(claim, end) for end in ends) if ends else ("", "")
                if ends and not (leaf in bytes_ and (low, high) == tuple(map(str, BYTE))):
                    self.trusted.append(f"that {leaf} of proof {name} lies in the range {low} to {high}")
            if opaque := {row[1] for row in claim["nodes"] if row[0] == "opaque"} - {*evaluator.MATRICES}:
                mine = {part for node in self.blocks[name] for part in (node.operator, node.operator.rsplit(".", 1)[0])}
                require(opaque <= mine | (ORDERS if ORDERS & mine else set()), f"proof {name} has other operators")
                self.trusted.append(f"that what has no meaning in proof {name} is a function of its arguments, and "
                                    "that the formulas around it are what torch's operators compute")
            found = evaluator.compare(claim, draws=DRAWS)
            if isinstance(found, evaluator.Disagreement):
                raise Broken(f"proof {name} is refuted by the second prover: {found}")
            if isinstance(found, evaluator.Cannot):
                require(found.reason == evaluator.TOO_LARGE, f"proof {name} says nothing: {found.reason}")
                self.trusted.append(f"proof {name}, which the second prover cannot work out: {found.reason}")
            else:
                places = [(grid.sizes, None if opaque else grid) for grid in found.grids]
        if unknown:
            self.trusted.append(f"proof {name}, whose {unknown[0]} is not run here")
            return
        runs = Runs(name, proof, self.constants)
        try:
            for at, grid in places or [(sizes, None)]:
                runs.check({**sizes, **at}, grid)              # a size that no formula has is the example's
        except NotImplementedError:                             # of a library's own kernel, which knows no float64
            self.trusted.append(f"proof {name}, whose operators are not run here in float64")
