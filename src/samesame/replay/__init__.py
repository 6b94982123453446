"""Replay: checks a certificate step by step, without searching for anything.

A certificate holds both graphs, a table of terms that spell out what their tensors are, and the steps that make the
roots equal. Each step equates two terms because (1) the same operator is applied to terms that earlier steps made
equal, or (2) a proof's block fits them: operator by operator, its two sides are the two terms, over a frontier of
equal terms, or (3) both programs compute the same constant, which is computed again. A proof says that the two sides
of its block are equal as formulas: the second prover works these out, torch's own operators are run against them, and a
fresh solver process answers each question again. Nothing here is shared with what made the certificate but the second
prover; that file, forms.py and this one are all there is to audit. What cannot be checked is listed as trusted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samesame import second
from samesame.replay import forms
from samesame.replay.forms import NARROW, WIDE, WIDEST, Broken, digest_of, kind_of, require, widened

__all__ = ["Broken", "Unreadable", "read", "replay"]

FORMAT, VERSION = "samesame certificate", 1
Report = tuple[list[str], list[str]]                    # what was checked, and what is trusted
Given = tuple[dict[str, Any], Mapping[str, Any]]        # a saved graph, and its tensors by name
TRUSTED = ["that the graphs are what the programs compute",
           "that proofs are over real numbers: casts between real types are the identity in them",
           "that the second prover tries random values at small sizes: it refutes, and it proves nothing for all sizes"]
LADDER = ["undecided", "tested", "proved at these sizes", "proved for all sizes"]
IDENTITIES = frozenset("aten." + name for name in (
    "alias", "detach", "clone", "contiguous", "lift", "lift_fresh", "lift_fresh_copy", "_to_copy", "to", "type_as",
    "positive", "_conj_physical_if_real", "alias_copy", "detach_copy"))
LAYOUTS = ("aten.reshape.default", "aten.permute.default", "aten.slice.Tensor", "aten.cat.default",
           "aten.repeat.default")
SOURCES = ("input", "parameter", "constant", "uninitialised")
OPEN = ("input", "parameter", "uninitialised")          # what a constant of the program depends on none of
DRAWS = ("generic", "positive", "ties")                 # of the second prover
LARGE = 1 << 25                                         # elements of a tensor that is not worked out
SOLVE = """import json, sys, z3
for text in json.load(sys.stdin):
    solver = z3.Solver(); solver.set("timeout", 20000); solver.from_string(text); print(solver.check())"""


class Unreadable(Broken):
    """What is no certificate at all, or one of another version."""


def digest(form: Any) -> str:
    return hashlib.sha256(json.dumps(form, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(path: Path) -> Any:
    """The JSON of a file, gzipped or not; raises Unreadable where there is none."""
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as fault:
        why = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        raise Unreadable(f"it cannot be read as a certificate ({why})") from fault


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
        why = " ".join(str(fault).split())[:200]
        raise Broken(f"the certificate is malformed ({type(fault).__name__}: {why})") from fault


class _Replay:
    def __init__(self, form: dict[str, Any]) -> None:
        self.form, self.terms = form, form["terms"]
        self.parent = list(range(len(self.terms)))
        self.constants: dict[str, torch.Tensor] = {}            # by digest
        self.computed: dict[int, list[torch.Tensor]] = {}       # what closed terms of the graphs are
        self.trusted = list(TRUSTED)

    def run(self, graphs: tuple[Given, Given] | None) -> Report:
        form = self.form
        require(form["seal"] == digest({k: v for k, v in form.items() if k != "seal"}), "the certificate was changed")
        texts = [query["text"] for proof in form["proofs"].values() for query in proof["queries"]]
        with _asked(texts) as solver:
            self.structure(graphs)
            for number, step in enumerate(form["steps"], 1):
                self.step(number, *step)
            self.roots()
            proofs = form["proofs"].items()
            used = sorted({step[2]["proof"] for step in form["steps"] if "proof" in step[2]})
            require(used == sorted(form["proofs"]), "the proofs are not those that the steps use")
            for name, proof in proofs:
                require(name == "P" + digest(proof)[:16], f"proof {name} was changed")
                self.proof(name, proof)
            conditions = sorted({condition for _, proof in proofs for condition in proof["conditions"]})
            require(conditions == form["conditions"], "the conditions are not those of the proofs")
            self.rungs(form["evidence"], [proof["rung"] for _, proof in proofs])
            self.solved(solver, texts)
        checked = [f"every output {form['evidence']}: {self.scope()}", *(f"provided that {c}" for c in conditions),
                   f"{len(form['roots'])} outputs equal by {len(form['steps'])} steps over {len(self.terms)} terms",
                   f"{len(used)} proofs by the second prover, and their formulas against torch's operators",
                   f"{len(texts)} questions by a fresh solver process"]
        return checked + (["both graphs and their tensors against the files given"] if graphs else []), self.trusted

    def scope(self) -> str:
        """The inputs that the claim is about."""
        inputs = [[n for n in self.form[side]["graph"]["nodes"] if n["operator"] == "input"]
                  for side in ("left", "right")]
        names = [a["name"] if a["name"] == b["name"] else f"{a['name']} (right: {b['name']})"
                 for a, b in zip(*inputs, strict=True)]
        shapes = [f"{name} [{', '.join(map(forms.spoken, node['type'][1]))}]"
                  for name, node in zip(names, inputs[0], strict=True)]
        symbols = sorted({f"{name} ≥ {least}" for _, name, least in forms.symbols(inputs[0])})
        return ", ".join(shapes) + (f" for every {', '.join(symbols)}" if symbols else "")

    def rungs(self, claimed: str, proofs: list[str]) -> None:
        """The verdict is worth no more than the weakest of its proofs, and holds for all sizes only over symbols."""
        require(all(rung in LADDER for rung in [claimed, *proofs]), "the certificate claims no known evidence")
        weakest = min(map(LADDER.index, proofs), default=LADDER.index(claimed))
        require(0 < LADDER.index(claimed) <= weakest, f"a proof is {LADDER[weakest]} only, not {claimed}")
        require(claimed != LADDER[-1] or self.form["sizes"], "no size varies, so none is proved for all sizes")

    # ---------------------------------------------------------------------------------------------------- the structure

    def structure(self, graphs: tuple[Given, Given] | None) -> None:
        """The terms spell out the graphs, and the graphs are those given."""
        form, self.closed = self.form, list[bool]()
        for number, (kind, _, arguments, _) in enumerate(self.terms):
            require(all(0 <= a < number for a in arguments), f"term {number} is built from terms after it")
            self.closed.append(kind not in OPEN and all(self.closed[a] for a in arguments))
        for name, value in form["constants"].items():
            self.constants[name] = forms.value_of(value)
            require(digest_of(self.constants[name]) == name, "a constant is not the one that its name says")
        for kind, attributes, _, type_ in self.terms:
            parts = type_ if isinstance(type_, list) else [type_]
            require(all(part["kind"] in (*WIDEST, *NARROW) for part in parts), "a term has no kind of number")
            if kind == "constant" and (value := self.constants.get(attributes[0])) is not None:
                same = type_ == {"shape": list(value.shape), "kind": kind_of(value)}
                require(same, "a constant is of another type than its value")
        inputs = [node for node in form["left"]["graph"]["nodes"] if node["operator"] == "input"]
        declared = {(name, least) for _, name, least in forms.symbols(inputs)}
        require({name for name, _ in declared} == set(form["sizes"]), "the sizes are not those of the inputs")
        require(len(declared) == len(form["sizes"]), "one size has two least values")
        spoken = forms.symbols([form["left"]["graph"], form["right"]["graph"], self.terms, form["proofs"]])
        require({(name, least) for _, name, least in spoken} <= declared, "a size is not one of the inputs'")
        require(all(form["sizes"][name] >= least >= 1 for name, least in declared), "the example is below its sizes")
        for k, side in enumerate(("left", "right")):
            part = form[side]
            require(part["identity"] == digest(part["graph"]), f"the {side} graph is not the one certified")
            require(part["loaded"] == digest(part["tensors"]), f"the {side} tensors are not those certified")
            self.graph(side, part)
            if graphs is not None:
                self.given(side, *graphs[k])
        self.weights(graphs and (graphs[0][1], graphs[1][1]))

    def graph(self, side: str, part: dict[str, Any]) -> None:
        """Every node's term spells out what the node says, over the terms of what it reads."""
        terms, types, inputs, values = part["terms"], {}, 0, dict[str, Any]()
        require(sorted(terms) == sorted(node["name"] for node in part["graph"]["nodes"]), f"{side} has other tensors")
        for node in part["graph"]["nodes"]:
            name, operator, (told, reads) = node["name"], node["operator"], forms.slots(node)
            term, what = terms[name], f"the term of {name} in the {side} graph is not what the graph says"
            kind, attributes, arguments, type_ = self.terms[term]
            types[name] = node["type"]
            require(digest(type_) == digest(forms.type_of(node["type"])), what)
            require(all(read in types for read in reads), what)
            if operator == "input":
                require((kind, attributes) == ("input", [inputs]), what)
                inputs += 1
            elif operator == "constant":
                require(self.closed[term], what)
                self.constant(side, name, part["tensors"][name], term)
            elif not (operator == "parameter" and side == "right" and name in self.form["weights"]) and not (
                    operator.rsplit(".", 1)[0] in IDENTITIES and reads and term == terms[reads[0]]):
                free = operator != "constant" and (kind, attributes) == ("uninitialised", [side, name])
                require(not forms.is_random(node), f"{operator} draws random numbers, so it is no function")
                if operator in SOURCES or free:
                    require(free or (kind, attributes) == (operator, [side, name]), what)
                else:
                    fits = kind == operator and digest(attributes[:2]) == digest(told)
                    require(fits and attributes[2:] in ([], [[types[read] for read in reads]]), what)
                    require(arguments == [terms[read] for read in reads], what)
            if self.closed[term] and not forms.symbols(node):
                self.compute(node, values, term)

    def constant(self, side: str, name: str, named: str, term: int) -> None:
        found = self.value(term)
        if found is not None:
            require(digest_of(found) == named, f"{name} in the {side} graph is another constant")
        elif self.terms[term][:2] != ["constant", [named]]:
            self.trusted.append(f"that {name} in the {side} graph is the constant it is said to be")

    def compute(self, node: dict[str, Any], values: dict[str, Any], term: int) -> None:
        """What a closed node of a graph computes, in its own dtypes, where the values of its constants are held."""
        if node["operator"] == "constant":
            value = self.value(term)
            if value is not None:
                values[node["name"]] = value.to(getattr(torch, node["type"][0]))
        elif all(read in values for read in forms.slots(node)[1]) and forms.is_run(node, LARGE, {}):
            values[node["name"]] = forms.applied(node, values, {}, lambda dtype: dtype)
        if isinstance(value := values.get(node["name"]), torch.Tensor):
            self.computed.setdefault(term, []).append(widened(value))

    def value(self, term: int, given: Mapping[int, Any] | None = None) -> torch.Tensor | None:
        """A constant, or a layout of what is given or of constants; None where its elements are not at hand."""
        kind, attributes, arguments, _ = self.terms[term]
        if kind == "constant":
            return self.constants.get(attributes[0])
        parts = [self.value(a, given) for a in arguments] if kind in LAYOUTS else [None]
        if given is not None and term in given:
            return widened(given[term])
        if any(part is None for part in parts):
            return None
        found: torch.Tensor = forms.operator(kind)(*forms.argument_of(attributes[0], {"slot": parts.__getitem__}))
        return found

    def weights(self, tensors: tuple[Mapping[str, Any], Mapping[str, Any]] | None) -> None:
        """Each right weight is a layout of left weights, and nothing else; with the tensors given, their elements."""
        left, right = self.form["left"], self.form["right"]
        names = {left["terms"][n["name"]]: n["name"] for n in left["graph"]["nodes"] if n["operator"] == "parameter"}
        loaded = {term: tensors[0][name] for term, name in names.items()} if tensors else {}
        known: list[bool] = []
        for number, (kind, _, arguments, _) in enumerate(self.terms):
            known.append(number in names or (kind in LAYOUTS and all(known[a] for a in arguments)))
        for name, term in self.form["weights"].items():
            what = f"the right weight {name} is no layout of left weights"
            require(known[term] and right["terms"][name] == term, what)
            if term in names:
                same = right["tensors"][name] == left["tensors"][names[term]]
                require(same, f"the right weight {name} has other values than the left {names[term]}")
            elif tensors:
                value = self.value(term, loaded)
                same = value is not None and digest_of(value) == right["tensors"][name]
                require(same, f"the right weight {name} is not the layout of left weights it is said to be")
            else:
                self.trusted.append(f"that the right weight {name} is the layout of left weights it is said to be")

    def given(self, side: str, graph: dict[str, Any], tensors: Mapping[str, Any]) -> None:
        """The certified graph at the sizes of the example is the one given, whatever the order of its inputs."""
        mine, sizes, what = self.form[side], self.form["sizes"], f"the {side} graph given is another than certified"
        nodes = {node["name"]: node for node in graph["nodes"]}
        roots = [mine["graph"]["roots"], graph["roots"]]
        require(len(nodes) == len(mine["graph"]["nodes"]) and sorted(roots[0]) == sorted(roots[1]), what)
        require(side == "right" or roots[0] == roots[1], what)
        for node in mine["graph"]["nodes"]:
            yours = {key: value for key, value in nodes[node["name"]].items() if key != "origin"}
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
        (one, mine, xs, kind), (other, yours, ys, type_) = self.terms[a], self.terms[b]
        require(digest(kind) == digest(type_), f"{what}: the two terms have different types")
        if reason == {"congruence": True}:
            require(one == other and digest(mine) == digest(yours), f"{what}: the operators or their attributes differ")
            require(len(xs) == len(ys) and all(map(self.same, xs, ys)), f"{what}: the arguments are not equal before")
        elif reason == {"constant": True}:
            require(self.closed[a] and self.closed[b], f"{what}: one of the terms is no constant")
            held = self.digests(a), self.digests(b)
            require(held[0] & held[1] or not all(held), f"{what}: the two constants are computed and differ")
            if not all(held):
                self.trusted.append(f"that the programs compute the constant of step {number}")
        else:
            proof = self.form["proofs"].get(reason["proof"])
            require(proof, f"{what}: it names a proof that is not there")
            named = sorted(node["name"] for node in proof["block"]["nodes"]) == sorted(reason["terms"])
            require(named, f"{what}: it does not name a tensor for each operator of the proof")
            self.instance(what, a, b, proof["block"], reason["terms"])
        self.parent[self.find(a)] = self.find(b)

    def digests(self, term: int) -> set[str]:
        """What is known of a closed term's elements."""
        if self.terms[term][0] == "constant":
            return {self.terms[term][1][0]}
        value = self.value(term)
        return set(map(digest_of, [*self.computed.get(term, ()), *([] if value is None else [value])]))

    def instance(self, what: str, a: int, b: int, block: dict[str, Any], terms: dict[str, int]) -> None:
        """The block, over these terms, is the claim that a = b."""
        types: dict[str, Any] = {}
        for node in block["nodes"]:
            name, operator, (told, reads) = node["name"], node["operator"], forms.slots(node)
            require(terms[name] >= 0, f"{what}: it names no term")
            kind, attributes, arguments, type_ = self.terms[terms[name]]
            types[name] = node["type"]
            typed = digest(type_) == digest(forms.type_of(node["type"]))
            require(typed, f"{what}: the proof is about tensors of another shape")
            if operator == "constant":
                held = [t for t, term in enumerate(self.terms) if term[:2] == ["constant", [block["constants"][name]]]]
                require(any(self.same(t, terms[name]) for t in held), f"{what}: {name} is another constant")
            elif operator.rsplit(".", 1)[0] in IDENTITIES and reads and terms[reads[0]] == terms[name]:
                continue
            elif operator != "input":
                fits = kind == operator and digest(attributes[:2]) == digest(told) and len(arguments) == len(reads)
                require(fits and attributes[2:] in ([], [[types[read] for read in reads]]),
                        f"{what}: the proof is about another operator than {kind}")
                require(all(self.same(x, terms[r]) for x, r in zip(arguments, reads, strict=True)),
                        f"{what}: an argument of {operator} is not the tensor that the proof speaks of")
        require((terms[block["left"]], terms[block["right"]]) == (a, b), f"{what}: the proof is about other tensors")

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
        claim, block, sizes = proof["claim"], proof["block"], {n: max(2, least) for _, n, least in forms.symbols(proof)}
        require(proof["method"] != "smt" or proof["queries"], f"proof {name} names a solver and asks it nothing")
        runs = _Runs(name, proof, self.constants)
        unknown = [node["operator"] for node in block["nodes"] if not forms.is_run(node, LARGE, sizes)]
        grids: tuple[Any, ...] = ()
        if proof["rung"] == "tested":
            self.trusted.append(f"that the operators of proof {name} are functions, equal where they were tested")
        else:
            require(claim, f"proof {name} has no formulas")
            ranges = ((leaf, *(forms.told(claim, end) for end in ends)) for leaf, _, _, ends in claim["leaves"] if ends)
            self.trusted += [f"that {leaf} of proof {name} lies in the range {a} to {b}" for leaf, a, b in ranges]
            if any(row[0] == "opaque" for row in claim["nodes"]):
                self.trusted.append(f"that what has no meaning in proof {name} is a function of its arguments")
            found = second.compare(claim, draws=DRAWS)
            if isinstance(found, second.Disagreement):
                raise Broken(f"proof {name} is refuted by the second prover: {found}")
            if isinstance(found, second.Cannot):
                require(found.reason == second.TOO_LARGE, f"proof {name} says nothing: {found.reason}")
                self.trusted.append(f"proof {name}, which the second prover cannot work out: {found.reason}")
            else:
                grids = found.grids
        if unknown:
            self.trusted.append(f"proof {name}, whose {unknown[0]} is not run here")
            return
        for grid in grids:
            runs.against(grid)
            runs.sides(grid.sizes, grid)
        if not grids:
            runs.sides(sizes, None)

    def solved(self, solver: subprocess.Popen[str] | None, texts: list[str]) -> None:
        if solver is None:
            return
        answers = solver.stdout.read().split()                  # type: ignore[union-attr]
        require(solver.wait() == 0 and len(answers) == len(texts), "the solver cannot read a question of the proofs")
        said = [query["answer"] for proof in self.form["proofs"].values() for query in proof["queries"]]
        for answer, claimed in zip(answers, said, strict=True):
            require(answer == claimed == "unsat", f"the solver answers {answer} to a question of a proof")
        self.trusted.append("z3, which answers the questions about indices, and that they are the right ones")


class _Runs:
    """What torch's operators compute on a proof's block, in float64."""

    def __init__(self, name: str, proof: dict[str, Any], constants: Mapping[str, torch.Tensor]) -> None:
        self.name, self.block, self.claim = name, proof["block"], proof["claim"]
        self.constants, self.conditions = constants, proof["conditions"]

    def sides(self, sizes: dict[str, int], grid: Any) -> None:
        """The two sides against each other, on normal values of three scales and on values near the numbers of the
        block. Where conditions exclude something, it may be half of the elements."""
        rng = np.random.default_rng(0)
        near = sorted({s * (c + d) for c in {0, *forms.numbers(self.block)} if abs(c) < 1e6
                       for d in (-0.25, 0.25) for s in (-1, 1)})
        used = 0
        for how in ("1", "30", "0.001", *["near"] * 4):
            def drawn(node: dict[str, Any], shape: list[int], how: str = how) -> Any:
                kind, leaf = kind_of(node["type"][0]), self.leaf(node["name"], grid)
                if kind in ("real", "complex"):
                    if how != "near":
                        return rng.standard_normal(shape) * float(how)
                    nonlocal used
                    used += math.prod(shape)
                    return rng.permutation(np.resize(np.roll(near, used), math.prod(shape))).reshape(shape)
                if leaf is not None and kind == "int":
                    return leaf[0]
                return rng.random(shape) < 0.8 if kind == "bool" else rng.integers(0, 2, shape)

            left, right = (torch.view_as_real(x) if x.is_complex() else x for x in self.outcome(sizes, drawn))
            require(left.shape == right.shape, f"the sides of proof {self.name} have different shapes")
            a, b = left.double(), right.double()
            finite = a.isfinite() & b.isfinite() & (a.abs() < 1e30) & (b.abs() < 1e30)
            scale = torch.where(finite, a.abs().maximum(b.abs()), 0).max() if a.numel() else 0
            apart = (finite & ((a - b).abs() > 1e-6 * (1 + scale))).sum()
            require(2 * apart <= finite.sum() if self.conditions else apart == 0,
                    f"torch's operators compute different sides of proof {self.name}")

    def against(self, grid: Any) -> None:
        """Each side against its formula, on the draws of the second prover. Where a formula says nothing torch has no
        number either, unless the proof has conditions."""
        claim = self.claim
        axes = tuple(claim["indices"])
        index = np.ix_(*(grid.positions[v] for v in axes))
        for draw in range(len(DRAWS)):
            def drawn(node: dict[str, Any], shape: list[int], draw: int = draw) -> Any:
                leaf = self.leaf(node["name"], grid)
                kind = kind_of(node["type"][0])
                if leaf is None:
                    free = np.random.default_rng(draw)
                    return free.standard_normal(shape) if kind in ("real", "complex") else free.integers(0, 2, shape)
                if kind not in ("real", "complex"):
                    return leaf[draw]
                return np.frompyfunc(forms.real_of, 2, 1)(leaf[draw], grid.one).astype(float)

            for side, tensor in zip(("left", "right"), self.outcome(grid.sizes, drawn), strict=True):
                whole = (torch.view_as_real(tensor) if tensor.is_complex() else tensor).double().numpy()
                extents = [grid.value(claim["nodes"][v][2])[1].item() for v in axes]
                require(list(whole.shape) == extents, f"the {side} formula of {self.name} has another shape")
                said = grid.spread(grid.number(claim[side], True), axes)
                said = said[min(draw, len(said) - 1)]
                pairs = zip(whole[index].flat if axes else [whole.item()], np.ravel(said), strict=True)
                near = all(self.is_near(float(mine), x, grid.one, draw) for mine, x in pairs)
                require(near, f"the {side} formula of proof {self.name} is not what torch's operators compute")

    def is_near(self, mine: float, said: Any, one: int, draw: int) -> bool:
        if said is second.UNDEFINED:            # on the last draw it may also be too near to 0 to tell
            return draw > 1 or bool(self.conditions) or not math.isfinite(mine)
        if said is second.BOTTOM:
            return mine < -1e30
        found = forms.real_of(said, one)
        return mine == found or abs(mine - found) <= 1e-6 * (1 + abs(mine))

    def leaf(self, name: str, grid: Any) -> Any:
        """The second prover's draws of a tensor; None where the formulas do not mention it."""
        names = [leaf[0] for leaf in self.claim["leaves"]] if grid is not None else []
        return grid.leaf(names.index(name)) if name in names else None

    def outcome(self, sizes: dict[str, int], drawn: Callable[[dict[str, Any], list[int]], Any]) -> list[torch.Tensor]:
        """The values of both sides, every tensor of the shape and kind that the block gives it."""
        values: dict[str, Any] = {}
        for node in self.block["nodes"]:
            what = f"{node['name']} of proof {self.name} is not of the type that the proof says"
            if node["operator"] in ("input", "constant"):
                dtype, shape = getattr(torch, node["type"][0]), [forms.number_at(n, sizes) for n in node["type"][1]]
                if node["operator"] == "constant":
                    value = self.constants[self.block["constants"][node["name"]]].to(dtype)
                else:
                    parts = [*shape, 2] if dtype.is_complex else shape
                    plain = np.asarray(drawn(node, parts))
                    plain = plain.astype({"real": float, "complex": float}.get(kind_of(node["type"][0]), np.int64))
                    value = torch.from_numpy(plain.copy())
                    value = torch.view_as_complex(value) if dtype.is_complex else value.to(WIDE.get(dtype, dtype))
            else:
                value = forms.applied(node, values, sizes, lambda dtype: WIDE.get(dtype, dtype))
            for type_, part in zip(*((list(map(list, node["type"]["several"])), value) if isinstance(
                    node["type"], dict) else ([node["type"]], [value])), strict=True):
                fits = list(part.shape) == [forms.number_at(n, sizes) for n in type_[1]]
                require(fits and kind_of(part) == kind_of(type_[0]), what)
            values[node["name"]] = value
        return [values[self.block[side]] for side in ("left", "right")]




@contextmanager
def _asked(texts: list[str]) -> Iterator[subprocess.Popen[str] | None]:
    """A fresh process that answers questions while everything else is checked; none where there is no question."""
    if not texts:
        yield None
        return
    command, pipe = [sys.executable, "-c", SOLVE], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as solver:
        try:
            with solver.stdin:                                  # type: ignore[union-attr]
                solver.stdin.write(json.dumps(texts))           # type: ignore[union-attr]
            yield solver
        finally:
            solver.kill()
