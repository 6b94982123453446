"""Replay: checks a certificate step by step, without searching for anything.

A certificate holds both graphs, a table of terms that spell out what their tensors are, and the steps that make the
roots equal. Each step equates two terms because (1) the same operator is applied to terms that earlier steps made
equal, or (2) a proof's block fits them: operator by operator, its two sides are the two terms, over a frontier of
equal terms, or (3) both programs compute the same constant, which is computed again. A proof says that the two sides
of its block are equal as formulas: the second prover works these out, torch's own operators are run against them, and a
fresh solver process answers each question again. Nothing here is shared with what made the certificate but the second
prover; that file and this one are all there is to audit. What cannot be checked is listed as trusted.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import math
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samesame import second

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
NARROW = ("int8", "uint8", "int16", "uint16")           # integers that may wrap around are kinds of their own
WIDEST = {"real": torch.float64, "int": torch.int64, "complex": torch.complex128, "bool": torch.bool}
FILES, RANDOM = ("from_file", "save"), torch.Tag.nondeterministic_seeded
LARGE = 1 << 25                                         # elements of a tensor that is not worked out
SOLVE = """import json, sys, z3
for text in json.load(sys.stdin):
    solver = z3.Solver(); solver.set("timeout", 20000); solver.from_string(text); print(solver.check())"""


class Broken(Exception):
    """A certificate that does not establish what it says; the message is one sentence."""


class Unreadable(Broken):
    """What is no certificate at all, or one of another version."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


def digest(form: Any) -> str:
    return hashlib.sha256(json.dumps(form, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def digest_of(value: torch.Tensor) -> str:
    """The same for tensors of equal shapes, kinds and elements, whatever their dtype."""
    wide = widened(value)
    raw = (torch.view_as_real(wide) if wide.is_complex() else wide).numpy().tobytes()
    return hashlib.sha256(repr((kind_of(value), tuple(value.shape))).encode() + raw).hexdigest()


def kind_of(value: torch.Tensor | str) -> str:
    """The kind of number that a tensor or a dtype's name holds: real, int, bool, complex, or a narrow integer."""
    name = value if isinstance(value, str) else str(value.dtype).removeprefix("torch.")
    plain = "bool" if name == "bool" else "complex" if "complex" in name else "real" if "float" in name else "int"
    return name if name in NARROW else plain


def widened(value: torch.Tensor) -> torch.Tensor:
    return value.detach().cpu().to(WIDEST.get(kind_of(value), value.dtype)).contiguous()


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
        with _solver(texts) as solver:
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
        shapes = [f"{name} [{', '.join(map(_spoken, node['type'][1]))}]"
                  for name, node in zip(names, inputs[0], strict=True)]
        symbols = sorted({f"{name} ≥ {least}" for _, name, least in _symbols(inputs[0])})
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
            self.constants[name] = _value(value)
            require(digest_of(self.constants[name]) == name, "a constant is not the one that its name says")
        inputs = [node for node in form["left"]["graph"]["nodes"] if node["operator"] == "input"]
        declared = {(name, least) for _, name, least in _symbols(inputs)}
        require({name for name, _ in declared} == set(form["sizes"]), "the sizes are not those of the inputs")
        require(len(declared) == len(form["sizes"]), "one size has two least values")
        spoken = _symbols([form["left"]["graph"], form["right"]["graph"], self.terms, form["proofs"]])
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
            name, operator, (told, reads) = node["name"], node["operator"], _slots(node)
            term, what = terms[name], f"the term of {name} in the {side} graph is not what the graph says"
            kind, attributes, arguments, type_ = self.terms[term]
            types[name] = node["type"]
            require(digest(type_) == digest(_typed(node["type"])), what)
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
                require(not _is_random(node), f"{operator} draws random numbers, so it is no function")
                if operator in SOURCES or free:
                    require(free or (kind, attributes) == (operator, [side, name]), what)
                else:
                    fits = kind == operator and digest(attributes[:2]) == digest(told)
                    require(fits and attributes[2:] in ([], [[types[read] for read in reads]]), what)
                    require(arguments == [terms[read] for read in reads], what)
            if self.closed[term] and not _symbols(node):
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
        elif all(read in values for read in _slots(node)[1]) and _is_run(node, LARGE, {}):
            values[node["name"]] = _applied(node, values, {}, lambda dtype: dtype)
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
        found: torch.Tensor = _operator(kind)(*_read(attributes[0], {"slot": parts.__getitem__}))
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
            require(_is_at(node, yours, sizes), f"{what} (at {node['name']})")
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
            name, operator, (told, reads) = node["name"], node["operator"], _slots(node)
            require(terms[name] >= 0, f"{what}: it names no term")
            kind, attributes, arguments, type_ = self.terms[terms[name]]
            types[name] = node["type"]
            typed = digest(type_) == digest(_typed(node["type"]))
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
        claim, block, sizes = proof["claim"], proof["block"], {n: max(2, least) for _, n, least in _symbols(proof)}
        require(proof["method"] != "smt" or proof["queries"], f"proof {name} names a solver and asks it nothing")
        runs = _Runs(name, proof, self.constants)
        if proof["rung"] == "tested":
            self.trusted.append(f"that the operators of proof {name} are functions, equal where they were tested")
            return self.tried(runs, sizes)
        require(claim, f"proof {name} has no formulas")
        self.trusted += [f"that {leaf} of proof {name} lies in the range {_told(claim, low)} to {_told(claim, high)}"
                         for leaf, _, _, (low, high) in (row for row in claim["leaves"] if row[3])]
        if any(row[0] == "opaque" for row in claim["nodes"]):
            self.trusted.append(f"that what has no meaning in proof {name} is a function of its arguments")
        found = second.compare(claim)
        require(not isinstance(found, second.Disagreement), f"proof {name} is refuted by the second prover: {found}")
        if isinstance(found, second.Cannot):
            require(found.reason == second.TOO_LARGE, f"proof {name} says nothing: {found.reason}")
            self.trusted.append(f"proof {name}, which the second prover cannot work out: {found.reason}")
            return self.tried(runs, sizes)
        grids = found.grids if isinstance(found, second.Agreement) else ()
        for grid in grids if all(_is_run(node, LARGE, sizes) for node in block["nodes"]) else ():
            runs.against(grid)
            self.tried(runs, grid.sizes, grid)
        return None

    def tried(self, runs: _Runs, sizes: dict[str, int], grid: Any = None) -> None:
        unknown = [n["operator"] for n in runs.block["nodes"] if not _is_run(n, LARGE, sizes)]
        if unknown:
            self.trusted.append(f"proof {runs.name}, whose {unknown[0]} is not run here")
        else:
            runs.sides(sizes, grid)

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
        near = itertools.cycle(sorted({s * (c + d) for c in {0, *_numbers(self.block)} if abs(c) < 1e6
                                       for d in (-0.25, 0.25) for s in (-1, 1)}))
        for how in ("1", "30", "0.001", *["near"] * 4):
            def drawn(node: dict[str, Any], shape: list[int], how: str = how) -> Any:
                kind, leaf = kind_of(node["type"][0]), self.leaf(node["name"], grid)
                if kind in ("real", "complex"):
                    if how != "near":
                        return rng.standard_normal(shape) * float(how)
                    return rng.permutation(list(itertools.islice(near, math.prod(shape)))).reshape(shape)
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
        for draw in range(len(second.DRAWS)):
            def drawn(node: dict[str, Any], shape: list[int], draw: int = draw) -> Any:
                leaf = self.leaf(node["name"], grid)
                kind = kind_of(node["type"][0])
                if leaf is None:
                    free = np.random.default_rng(draw)
                    return free.standard_normal(shape) if kind in ("real", "complex") else free.integers(0, 2, shape)
                if kind not in ("real", "complex"):
                    return leaf[draw]
                return np.asarray([float(Fraction(x) / grid.one) for x in leaf[draw].flat]).reshape(leaf[draw].shape)

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
        if said is second.UNDEFINED:            # on the later draws it may also be too near to 0 to tell
            return draw > 1 or bool(self.conditions) or not math.isfinite(mine)
        if said is second.BOTTOM:
            return mine < -1e30
        return abs(mine - float(Fraction(said) / one)) <= 1e-6 * (1 + abs(mine))

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
                dtype, shape = getattr(torch, node["type"][0]), [_number(n, sizes) for n in node["type"][1]]
                if node["operator"] == "constant":
                    value = self.constants[self.block["constants"][node["name"]]].to(dtype)
                else:
                    parts = [*shape, 2] if dtype.is_complex else shape
                    plain = np.asarray(drawn(node, parts))
                    plain = plain.astype({"real": float, "complex": float}.get(kind_of(node["type"][0]), np.int64))
                    value = torch.from_numpy(plain.copy())
                    value = torch.view_as_complex(value) if dtype.is_complex else value.to(WIDE.get(dtype, dtype))
            else:
                value = _applied(node, values, sizes, lambda dtype: WIDE.get(dtype, dtype))
            for type_, part in zip(*((list(map(list, node["type"]["several"])), value) if isinstance(
                    node["type"], dict) else ([node["type"]], [value])), strict=True):
                fits = list(part.shape) == [_number(n, sizes) for n in type_[1]] and kind_of(part) == kind_of(type_[0])
                require(fits, what)
            values[node["name"]] = value
        return [values[self.block[side]] for side in ("left", "right")]


WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
        torch.complex64: torch.complex128}


# ------------------------------------------------------------------------------------------------ graphs, as they stand


def _slots(node: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """A node's arguments with numbered slots in place of nodes, as terms have them, and the nodes it reads."""
    reads: list[str] = []

    def go(argument: Any) -> Any:
        if isinstance(argument, dict) and "node" in argument:
            reads.append(argument["node"])
            return {"slot": len(reads) - 1}
        return list(map(go, argument)) if isinstance(argument, list) else argument

    return [go(node["args"]), [[name, go(value)] for name, value in node["kwargs"].items()]], reads


def _typed(form: Any) -> Any:
    """The type of a term, from that of a node."""
    if isinstance(form, dict):
        return list(map(_typed, form["several"]))
    return {"shape": form[1], "kind": kind_of(form[0])}


def _symbols(form: Any) -> list[list[Any]]:
    """Every size symbol in nested JSON: ["size", name, least value]."""
    if isinstance(form, list) and len(form) == 3 and form[0] == "size":
        return [form]
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return [symbol for part in parts if isinstance(part, dict | list) for symbol in _symbols(part)]


def _numbers(form: Any) -> Iterator[float]:
    """The numbers among a block's arguments."""
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    for part in parts:
        yield from [float(part)] if isinstance(part, int | float) else _numbers(part)


def _spoken(size: Any) -> str:
    if not isinstance(size, list):
        return str(size)
    return str(size[1]) if size[0] == "size" else f"({f' {size[0]} '.join(map(_spoken, size[1:]))})"


def _told(claim: dict[str, Any], place: int) -> str:
    """A size among the nodes of a claim."""
    tag, *parts = claim["nodes"][place]
    if tag in ("num", "size"):
        return str(parts[0])
    return f"({f' {tag} '.join(_told(claim, p) for p in (parts[0] if isinstance(parts[0], list) else parts))})"


def _number(form: Any, sizes: Mapping[str, int]) -> Any:
    """The number that a size is, as formula/sizes.py writes sizes."""
    if not isinstance(form, list):
        return form
    if form[0] == "size":
        return sizes[form[1]]
    if form[0] == "^":
        return _number(form[1], sizes) ** (form[2] / form[3] if form[3] > 1 else form[2])
    parts = [_number(part, sizes) for part in form[1:]]
    if form[0] in ("//", "mod"):
        return parts[0] // parts[1] if form[0] == "//" else parts[0] % parts[1]
    operations: dict[str, Any] = {"+": sum, "·": math.prod, "max": max, "min": min, "/": lambda ab: ab[0] / ab[1]}
    return operations[form[0]](parts)


def _is_at(form: Any, given: Any, sizes: Mapping[str, int]) -> bool:
    """Is a part of a graph, at these sizes, what is given? A root of a size is the float nearest to it."""
    if isinstance(form, dict) and list(form) == ["size"]:
        number = _number(form["size"], sizes)
        return type(given) in (int, float) and math.isclose(number, given, rel_tol=3e-7 * isinstance(number, float))
    if isinstance(form, list) and form and form[0] in ("size", "+", "·", "//", "mod", "max", "min", "^"):
        return type(given) is int and _number(form, sizes) == given
    if isinstance(form, dict):
        return isinstance(given, dict) and form.keys() == given.keys() and all(
            _is_at(form[key], given[key], sizes) for key in form)
    if isinstance(form, list):
        return isinstance(given, list) and len(form) == len(given) and all(
            _is_at(a, b, sizes) for a, b in zip(form, given, strict=True))
    return type(form) is type(given) and form == given


def _value(form: dict[str, Any]) -> torch.Tensor:
    """A constant, from its one number or the bytes of its elements."""
    dtype = WIDEST.get(form["kind"]) or getattr(torch, form["kind"])
    if "value" in form:
        return torch.full(form["shape"], _read(form["value"], {}), dtype=dtype)
    return torch.frombuffer(bytearray(base64.b64decode(form["data"])), dtype=dtype).reshape(form["shape"])


def _read(form: Any, readers: Mapping[str, Callable[[Any], Any]]) -> Any:
    """An argument, from its JSON."""
    if isinstance(form, list):
        return [_read(part, readers) for part in form]
    if not isinstance(form, dict):
        return form
    ((kind, value),) = form.items()
    if kind == "complex":
        return complex(*(_read(part, readers) for part in value))
    return {"float": float, **readers}[kind](value)


def _operator(name: str) -> Any:
    """An operator that is registered with torch, by the name it has in graphs; None where there is none here."""
    namespace, packet, overload = [*name.split(".", 2), "", ""][:3]
    found = getattr(getattr(getattr(torch.ops, namespace, None), packet, None), overload, None)
    require(packet not in FILES, f"{name} reads or writes files")
    return found


def _is_random(node: dict[str, Any]) -> bool:
    """Does it draw random numbers, other than for a dropout that is 0 or not in training?"""
    found = _operator(node["operator"])
    if found is None or RANDOM not in found.tags:
        return False
    given = {argument.name: argument.default_value for argument in found._schema.arguments}
    given |= dict(zip(given, node["args"], strict=False)) | node["kwargs"]
    return given.get("dropout_p", 1) != 0 and given.get("train", True) is not False


def _is_run(node: dict[str, Any], most: int, sizes: Mapping[str, int]) -> bool:
    """Can the node be run here, and is what it gives small enough?"""
    types = node["type"]["several"] if isinstance(node["type"], dict) else [node["type"]]
    small = all(math.prod(_number(n, sizes) for n in shape) <= most for _, shape in types)
    return small and (node["operator"] in ("input", "constant", "getitem") or _operator(node["operator"]) is not None)


def _applied(node: dict[str, Any], values: Mapping[str, Any], sizes: Mapping[str, int],
             wide: Callable[[torch.dtype], torch.dtype]) -> Any:
    """What torch computes at a node; `wide` gives the dtype in place of one that it asks for."""
    readers: dict[str, Callable[[Any], Any]] = {
        "node": values.__getitem__, "size": lambda size: _number(size, sizes),
        "dtype": lambda name: wide(getattr(torch, name))}
    args, kwargs = _read(node["args"], readers), {name: _read(form, readers) for name, form in node["kwargs"].items()}
    if node["operator"] == "getitem":
        return args[0][args[1]]
    found = _operator(node["operator"])(*args, **kwargs)
    wider = isinstance(found, torch.Tensor) and wide(found.dtype) is not found.dtype
    return found.to(wide(found.dtype)) if wider else found


class _solver:
    """A fresh process that answers questions while everything else is checked; none where there is no question."""

    def __init__(self, texts: list[str]) -> None:
        self.process: subprocess.Popen[str] | None = None
        if texts:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen([sys.executable, "-c", SOLVE], text=True, **pipes)    # type: ignore[call-overload]
            self.process.stdin.write(json.dumps(texts))         # type: ignore[union-attr]
            self.process.stdin.close()                          # type: ignore[union-attr]

    def __enter__(self) -> subprocess.Popen[str] | None:
        return self.process

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
