"""Replay: checks a certificate step by step, without searching for anything.

A certificate holds both graphs, a table of terms that spell out what their tensors are, and the steps that make the
roots equal. Each step equates two terms because (1) the same operator is applied to terms that earlier steps made
equal, or (2) a proof's block fits them: operator by operator, its two sides are the two terms, over a frontier of
equal terms, or (3) both programs compute the same constant. A proof says that the two sides of its block are equal as
formulas: the second prover works these out, torch's own operators are run against them, and a fresh solver process
answers each question again. Nothing here is shared with what made the certificate but the second prover; that file and
this one are all there is to audit. What cannot be checked is listed as trusted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import subprocess
import sys
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samesame import second

FORMAT, VERSION = "samesame certificate", 1
Report = tuple[list[str], list[str]]            # what was checked, and what is trusted
TRUSTED = ["that the graphs are what the programs compute, and the weights those that were loaded",
           "that proofs are over real numbers: casts between real types are the identity in them",
           "that the second prover tries random values at small sizes: it refutes, and it proves nothing for all sizes"]
LADDER = ["undecided", "tested", "proved at these sizes", "proved for all sizes"]
IDENTITIES = frozenset("aten." + name for name in (
    "alias", "detach", "clone", "contiguous", "lift", "lift_fresh", "lift_fresh_copy", "_to_copy", "to", "type_as",
    "positive", "_conj_physical_if_real", "alias_copy", "detach_copy"))
LAYOUTS = {"aten.reshape.default", "aten.permute.default", "aten.slice.Tensor", "aten.cat.default"}
OPEN = ("input", "parameter", "uninitialised")      # what a constant of the program depends on none of
SOLVE = """import json, sys, z3
for text in json.load(sys.stdin):
    solver = z3.Solver(); solver.set("timeout", 20000); solver.from_string(text); print(solver.check())"""


class Broken(Exception):
    """A certificate that does not establish what it says; the message is one sentence."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


def digest(form: Any) -> str:
    return hashlib.sha256(json.dumps(form, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(path: Path) -> Any:
    """The JSON of a file, gzipped or not; raises Broken where there is none."""
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (OSError, EOFError, ValueError, zlib.error) as fault:
        raise Broken(f"{path} cannot be read as JSON ({fault})") from fault


def replay(form: Any, graphs: tuple[Any, Any] | None = None) -> Report:
    """What was checked and what is trusted; raises Broken where the certificate does not hold."""
    require(isinstance(form, dict) and form.get("format") == FORMAT, "this is no certificate of samesame")
    require(form.get("version") == VERSION, f"the certificate has version {form.get('version')}, not {VERSION}")
    try:
        return _Replay(form).run(graphs)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as fault:
        raise Broken(f"the certificate is malformed ({type(fault).__name__}: {str(fault)[:200]})") from fault


class _Replay:
    def __init__(self, form: dict[str, Any]) -> None:
        self.form, self.terms = form, form["terms"]
        self.parent = list(range(len(self.terms)))
        self.closed: list[bool] = []
        self.weight: list[bool] = []
        self.trusted = list(TRUSTED)

    def run(self, graphs: tuple[Any, Any] | None) -> Report:
        form = self.form
        require(form["seal"] == digest({k: v for k, v in form.items() if k != "seal"}), "the certificate was changed")
        for number, (kind, attributes, arguments, _) in enumerate(self.terms):
            require(all(0 <= a < number for a in arguments), f"term {number} is built from terms after it")
            self.closed.append(kind not in OPEN and all(self.closed[a] for a in arguments))
            given = kind == "parameter" and attributes[0] == "left"
            self.weight.append(given or (kind in LAYOUTS and all(self.weight[a] for a in arguments)))
        for k, side in enumerate(("left", "right")):
            require(form[side]["identity"] == digest(form[side]["graph"]), f"the {side} graph is not the one certified")
            weights = form[side]["weights"]
            require(form[side]["loaded"] == digest(weights), f"the {side} weights are not those certified")
            if graphs is not None:
                given = {"nodes": _plain(graphs[k]["nodes"]), "roots": graphs[k]["roots"]}
                require(digest(given) == form[side]["identity"], f"the {side} graph given is another than certified")
            self.graph(side, form[side])
        for name, proof in form["proofs"].items():
            require(name == "P" + digest(proof)[:16], f"proof {name} was changed")
        for number, step in enumerate(form["steps"], 1):
            self.step(number, *step)
        conditions, names = [], [name for name, *_ in form["roots"]]
        require(names == [name for name, _ in form["left"]["graph"]["roots"]], "the outputs are not those of the graph")
        for (name, a, b), *nodes in zip(form["roots"], *(form[s]["graph"]["roots"] for s in ("left", "right")),
                                        strict=True):
            mine, yours = (form[s]["terms"][node] for s, (_, node) in zip(("left", "right"), nodes, strict=True))
            require((a, b) == (mine, yours), f"output {name} is not the tensor that the graphs return")
            require(self.same(a, b), f"the steps do not make output {name} equal on both sides")
        used = sorted({step[2]["proof"] for step in form["steps"] if "proof" in step[2]})
        require(used == sorted(form["proofs"]), "the proofs are not those that the steps use")
        for name in used:
            self.proof(name, form["proofs"][name])
            conditions += form["proofs"][name]["conditions"]
        require(sorted(set(conditions)) == form["conditions"], "the conditions are not those of the proofs")
        self.rungs(form["evidence"], [form["proofs"][name]["rung"] for name in used])
        queries = [query for name in used for query in form["proofs"][name]["queries"]]
        self.solve(queries)
        sizes = f", for every {', '.join(form['sizes'])}" if form["sizes"] else ""
        checked = [f"every output {form['evidence']}{sizes}",
                   f"{len(form['roots'])} outputs equal by {len(form['steps'])} steps over {len(self.terms)} terms",
                   f"{len(used)} proofs by the second prover, and their formulas against torch's operators",
                   f"{len(queries)} questions by a fresh solver process"]
        return checked + (["both graphs against the files given"] if graphs else []), self.trusted

    def rungs(self, claimed: str, proofs: list[str]) -> None:
        """The verdict is worth no more than the weakest of its proofs, and holds for all sizes only over symbols."""
        require(all(rung in LADDER for rung in [claimed, *proofs]), "the certificate claims no known evidence")
        weakest = min(map(LADDER.index, proofs), default=LADDER.index(claimed))
        require(LADDER.index(claimed) <= weakest, f"a proof is {LADDER[weakest]} only, not {claimed}")
        symbols = any(form[0] == "size" for _, _, _, type_ in self.terms for form in _sizes_in(type_))
        everywhere = claimed == LADDER[-1]
        require(not everywhere or (symbols and self.form["sizes"]), "no size varies, so none is proved for all sizes")

    # ---------------------------------------------------------------------------------------------------- the structure

    def find(self, term: int) -> int:
        while self.parent[term] != term:
            self.parent[term] = term = self.parent[self.parent[term]]
        return term

    def same(self, a: int, b: int) -> bool:
        return self.find(a) == self.find(b)

    def graph(self, side: str, part: dict[str, Any]) -> None:
        """Every node's term spells out what the node says, over the terms of what it reads."""
        terms, inputs = part["terms"], 0
        for node in part["graph"]["nodes"]:
            name, operator = node["name"], node["operator"]
            told, reads = _slots(node)
            term, what = terms[name], f"the term of {name} in the {side} graph is not what the graph says"
            kind, attributes, arguments, _ = self.terms[term]
            if operator == "input":
                require((kind, attributes) == ("input", [inputs]), what)
                inputs += 1
            elif operator == "parameter" and self.form["weights"].get(name) == term and side == "right":
                require(self.weight[term], f"the right weight {name} is no layout of left weights")
                self.trusted.append(f"that the right weight {name} is the layout of left weights it is said to be")
            elif operator in ("parameter", "uninitialised"):
                require((kind, attributes) == (operator, [side, name]), what)
            elif operator == "constant":
                require(kind == "constant", what)
            elif not (operator.rsplit(".", 1)[0] in IDENTITIES and reads and term == terms[reads[0]]):
                require((kind, attributes[:2]) == (operator, told), what)
                require(arguments == [terms[read] for read in reads], what)

    def step(self, number: int, a: int, b: int, reason: dict[str, Any]) -> None:
        what = f"step {number} does not hold"
        (one, mine, xs, kind), (other, yours, ys, type_) = self.terms[a], self.terms[b]
        require(kind == type_, f"{what}: the two terms have different types")
        if reason == {"congruence": True}:
            require(one == other and digest(mine) == digest(yours), f"{what}: the operators or their attributes differ")
            require(len(xs) == len(ys) and all(map(self.same, xs, ys)), f"{what}: the arguments are not equal before")
        elif reason == {"constant": True}:
            constant = "constant" in (one, other) and self.closed[a] and self.closed[b]
            require(constant, f"{what}: one of the terms is no constant")
            self.trusted.append(f"that the programs compute the constant of step {number}")
        else:
            proof = self.form["proofs"].get(reason["proof"])
            require(proof, f"{what}: it names a proof that is not there")
            named = sorted(node["name"] for node in proof["block"]["nodes"]) == sorted(reason["terms"])
            require(named, f"{what}: it does not name a tensor for each operator of the proof")
            self.instance(what, a, b, proof["block"], reason["terms"])
        self.parent[self.find(a)] = self.find(b)

    def instance(self, what: str, a: int, b: int, block: dict[str, Any], terms: dict[str, int]) -> None:
        """The block, over these terms, is the claim that a = b."""
        for node in block["nodes"]:
            name, operator, (told, reads) = node["name"], node["operator"], _slots(node)
            kind, attributes, arguments, type_ = self.terms[terms[name]]
            if isinstance(type_, dict) and isinstance(node["type"], list):
                require(type_["shape"] == node["type"][1], f"{what}: the proof is about tensors of another shape")
            if operator == "constant":
                value = block["constants"][name]
                known = any(self.same(t, terms[name]) and self.terms[t][:2] == ["constant", [value["digest"]]]
                            for t in range(len(self.terms)))
                require(known and value["digest"] == _uniform(value), f"{what}: {name} is another constant")
            elif operator.rsplit(".", 1)[0] in IDENTITIES and reads and terms[reads[0]] == terms[name]:
                continue
            elif operator != "input":
                fits = kind == operator and digest(attributes[:2]) == digest(told) and len(arguments) == len(reads)
                require(fits, f"{what}: the proof is about another operator than {kind}")
                require(all(self.same(x, terms[r]) for x, r in zip(arguments, reads, strict=True)),
                        f"{what}: an argument of {operator} is not the tensor that the proof speaks of")
        require((terms[block["left"]], terms[block["right"]]) == (a, b), f"{what}: the proof is about other tensors")

    # ------------------------------------------------------------------------------------------------------- the proofs

    def proof(self, name: str, proof: dict[str, Any]) -> None:
        require(proof["method"] != "smt" or proof["queries"], f"proof {name} names a solver and asks it nothing")
        bounded = [leaf for leaf, _, _, bounds in proof["claim"]["leaves"] if bounds]
        require(not bounded or proof["conditions"], f"proof {name} bounds {bounded} without saying so")
        found = second.compare(proof["claim"])
        require(not isinstance(found, second.Disagreement), f"proof {name} is refuted by the second prover: {found}")
        if isinstance(found, second.Cannot):
            require(found.reason == second.TOO_LARGE, f"proof {name} says nothing: {found.reason}")
            self.trusted.append(f"proof {name}, which the second prover cannot work out: {found.reason}")
        elif any(row[0] == "opaque" for row in proof["claim"]["nodes"]):
            self.trusted.append(f"that what has no meaning in proof {name} is a function of its arguments")
        elif isinstance(found, second.Agreement):
            self.operators(name, proof, found.sizes[0])

    def operators(self, name: str, proof: dict[str, Any], sizes: dict[str, int]) -> None:
        """What torch computes with the block's operators is what the two formulas say, on two draws. Where they say
        nothing torch has no number either, unless the proof has conditions."""
        block, claim = proof["block"], proof["claim"]
        grid = second.Grid(claim, sizes, "torch", second.MOST)
        grid.compared()
        leaves = {row[0]: k for k, row in enumerate(claim["leaves"])}
        index = np.ix_(*(grid.positions[v] for v in claim["indices"]))
        for draw in (0, 1):
            values: dict[str, Any] = {}
            drawn = {leaf: grid.leaf(k)[draw] for leaf, k in leaves.items()}
            for node in block["nodes"]:
                values[node["name"]] = _computed(node, block, values, sizes, drawn, grid.one)
            for side in ("left", "right"):
                tensor = values[block[side]]
                tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
                axes = tuple(claim["indices"])
                extents = [grid.value(claim["nodes"][v][2])[1].item() for v in axes]
                require(list(tensor.shape) == extents, f"the {side} formula of {name} has another shape")
                said = grid.spread(grid.number(claim[side], True), axes)[min(draw, len(grid.value(claim[side])[1]) - 1)]
                for mine, x in zip(np.asarray(tensor.double())[index].flat if axes else [tensor.item()], np.ravel(said),
                                   strict=True):
                    if x is second.UNDEFINED:
                        near = proof["conditions"] or not math.isfinite(mine)
                    elif x is second.BOTTOM:
                        near = mine < -1e30
                    else:
                        near = abs(mine - float(Fraction(x) / grid.one)) <= 1e-6 * (1 + abs(mine))
                    require(near, f"the {side} formula of proof {name} is not what torch's operators compute")

    def solve(self, queries: list[dict[str, str]]) -> None:
        if not queries:
            return
        texts = json.dumps([query["text"] for query in queries])
        ran = subprocess.run([sys.executable, "-c", SOLVE], input=texts, capture_output=True, text=True)
        require(ran.returncode == 0, "the solver cannot read a question of the certificate")
        for query, answer in zip(queries, ran.stdout.split(), strict=True):
            require(answer == query["answer"] == "unsat", f"the solver answers {answer} to a question of a proof")
        self.trusted.append("z3, which answers the questions about indices, and that they are the right ones")


def _sizes_in(form: Any) -> list[Any]:
    """The size expressions in a type."""
    parts = list(form.values()) if isinstance(form, dict) else form if isinstance(form, list) else []
    return [form] if parts and parts[0] == "size" else [size for part in parts for size in _sizes_in(part)]


def _plain(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nodes without their origins."""
    return [{k: v for k, v in node.items() if k != "origin"} for node in nodes]


def _slots(node: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """A node's arguments with numbered slots in place of nodes, as terms have them, and the nodes it reads."""
    reads: list[str] = []

    def go(argument: Any) -> Any:
        if isinstance(argument, dict) and "node" in argument:
            reads.append(argument["node"])
            return {"slot": len(reads) - 1}
        return list(map(go, argument)) if isinstance(argument, list) else argument

    return [go(node["args"]), [[name, go(value)] for name, value in node["kwargs"].items()]], reads


def _uniform(value: dict[str, Any]) -> str:
    """The digest of a constant that holds one number everywhere."""
    dtype = {"real": torch.float64, "int": torch.int64, "bool": torch.bool, "complex": torch.complex128}[value["kind"]]
    whole = torch.full(value["shape"], value["value"], dtype=dtype)
    whole = torch.view_as_real(whole) if whole.is_complex() else whole
    head = repr((value["kind"], tuple(value["shape"]))).encode()
    return hashlib.sha256(head + whole.contiguous().numpy().tobytes()).hexdigest()


def _size(form: Any, sizes: dict[str, int]) -> Any:
    """The number that a size is, as formula/sizes.py writes sizes."""
    if not isinstance(form, list):
        return form
    if form[0] == "size":
        return sizes[form[1]]
    if form[0] == "^":
        return _size(form[1], sizes) ** (Fraction(form[2], form[3]) if form[3] > 1 else form[2])
    parts = [_size(part, sizes) for part in form[1:]]
    if form[0] in ("//", "mod"):
        return parts[0] // parts[1] if form[0] == "//" else parts[0] % parts[1]
    operations: dict[str, Any] = {"+": sum, "·": math.prod, "max": max, "min": min}
    return operations[form[0]](parts)


def _computed(node: dict[str, Any], block: dict[str, Any], values: dict[str, Any], sizes: dict[str, int],
              leaves: dict[str, Any], one: int) -> Any:
    """What torch computes at a node of a block, in float64."""
    name, operator = node["name"], node["operator"]
    if operator in ("input", "constant"):
        dtype, shape = getattr(torch, node["type"][0]), [_size(n, sizes) for n in node["type"][1]]
        if operator == "constant" or name not in leaves:
            return torch.full(shape, block["constants"][name]["value"] if operator == "constant" else 0, dtype=dtype)
        drawn = leaves[name]
        numbers = [float(Fraction(x) / one) if dtype.is_floating_point or dtype.is_complex else x for x in drawn.flat]
        whole = torch.tensor(numbers, dtype=torch.float64 if dtype.is_complex else dtype).reshape(drawn.shape)
        whole = torch.view_as_complex(whole.contiguous()) if dtype.is_complex else whole
        require(list(whole.shape) == shape, f"the formula's tensor {name} has another shape than the block's")
        return whole

    def argument(form: Any) -> Any:
        if isinstance(form, list):
            return list(map(argument, form))
        if not isinstance(form, dict):
            return form
        ((kind, value),) = form.items()
        if kind == "dtype":
            return {"float16": torch.float64, "bfloat16": torch.float64, "float32": torch.float64,
                    "complex64": torch.complex128}.get(value, getattr(torch, value))
        meanings: dict[str, Any] = {"node": values.get, "float": float, "size": lambda size: _size(size, sizes),
                                    "complex": lambda parts: complex(*map(argument, parts))}
        return meanings[kind](value)

    args, kwargs = list(map(argument, node["args"])), {key: argument(value) for key, value in node["kwargs"].items()}
    if operator == "getitem":
        return args[0][args[1]]
    namespace, packet, overload = operator.split(".", 2)
    found = getattr(getattr(getattr(torch.ops, namespace), packet), overload)(*args, **kwargs)
    return found.double() if isinstance(found, torch.Tensor) and found.is_floating_point() else found
