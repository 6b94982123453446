"""Certificates: what was proved is replayed step by step; whatever is changed in one is noticed."""

from __future__ import annotations

import copy
import json
import random
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import nn

import samesame.relate.relating as relating_module
from samesame.capture import capture
from samesame.certificate import Proof, Use, certificate
from samesame.check import take_draws
from samesame.formula.dag import decoded
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Size, index, lt, substitute, where
from samesame.formula.smt import recording as recording_questions
from samesame.formula.tensor import leaf, tensor
from samesame.graph_text import to_json
from samesame.operators.defaults import with_defaults
from samesame.relate.blocks import _Cutter
from samesame.relate.layout import Concat, Whole, wholes
from samesame.relate.prove import Prover
from samesame.relate.relating import closed_values, input_relation, relate
from samesame.relate.world import World
from samesame.replay import Broken, digest, read, replay


class Tracing(_Cutter):
    """Remembers the term of each node of a block."""

    def __init__(self, *args):
        super().__init__(*args)
        self.terms = {}

    def application(self, term, inputs):
        node = super().application(term, inputs)
        self.terms[node.name] = term
        return node


def steps(layout):
    """The steps of a layout in the order in which a block takes them."""
    if isinstance(layout, Whole):
        return []
    parts = layout.parts if isinstance(layout, Concat) else (layout.part,)
    return [*(step for part in parts for step in steps(part)), layout]


@contextmanager
def recording(uses):
    """Record every use of a proof while two graphs are related."""
    cut, establish, last = relating_module.cut, World.establish, []

    def tracing(world, left, right, layout, *, opened=frozenset(), constants=False, limit=250):
        cutter = Tracing(world, opened, constants, limit)
        block = cutter.claim(left, right, layout)
        terms = {node.name: cls for cls, node in cutter.made.items()} | cutter.terms
        last[:] = [block, terms]
        return block

    def established(world, left, right, layout, evidence):
        block, terms = last
        moved = [world.add_layout(step, {name: left for name in wholes(step)}) for step in steps(layout)]
        added = [n for n in block.graph.nodes if n.name not in terms and n.operator != "aten._to_copy.default"]
        terms |= {node.name: term for node, term in zip(added, moved, strict=True)}
        for node in block.graph.nodes:
            if node.name not in terms:
                terms[node.name] = terms[node.inputs[0].name]
        whole = moved[-1] if moved else left
        establish(world, left, right, layout, evidence)
        terms = {**terms, block.left.name: whole, block.right.name: right}
        uses.append(Use(evidence, whole, right, block, terms))

    relating_module.cut, World.establish = tracing, established
    try:
        yield
    finally:
        relating_module.cut, World.establish = cut, establish


class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(4, 4) for _ in range(4))
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        for _ in range(2):
            y = self.norm(x)
            q, k, v = self.q(y), self.k(y), self.v(y)
            scores = q @ k.transpose(-1, -2) / 2
            mask = torch.ones(3, 3).tril() == 0
            x = x + self.o(scores.masked_fill(mask, float("-inf")).softmax(-1) @ v)
        return x, nn.functional.gelu(x)


class Right(nn.Module):
    def __init__(self, left):
        super().__init__()
        self.qkv = nn.Parameter(torch.cat([left.q.weight, left.k.weight, left.v.weight]).detach())
        self.bias = nn.Parameter(torch.cat([left.q.bias, left.k.bias, left.v.bias]).detach())
        self.o, self.norm = left.o, left.norm

    def forward(self, x):
        for _ in range(2):
            mean = x.mean(-1, keepdim=True)
            y = (x - mean) / (((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.norm.weight
            y = y + self.norm.bias
            q, k, v = nn.functional.linear(y, self.qkv, self.bias).split(4, -1)
            x = x + self.o(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x, x * 0.5 * (1 + torch.erf(x / 2**0.5))


@pytest.fixture(scope="module")
def certified():
    torch.manual_seed(0)
    left = Left()
    x = (torch.randn(2, 3, 4),)
    graphs = tuple(with_defaults(capture(m, x, name=n)) for m, n in ((left, "left"), (Right(left), "right")))
    relation = input_relation(*graphs)
    _, values = take_draws(graphs, relation, 0)
    prover, uses = Prover(), []
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    with recording(uses):
        relating = relate(*graphs, relation, values, constants, prover)
        for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True):
            assert relating.root_evidence(a, b) is not None
    proofs = {u.id: Proof(e) for u in uses for _, _, e in relating.related.values() if e.proof == u.id}
    form = certificate(relating, uses, proofs, {"samesame": "0"}, 0)
    return json.loads(json.dumps(form)), graphs


def test_a_certificate_replays(certified):
    form, graphs = certified
    checked, trusted = replay(form, tuple(json.loads(json.dumps(to_json(graph))) for graph in graphs))
    assert any("outputs equal" in line for line in checked) and trusted
    assert not any("cannot work out" in line for line in trusted)


# ------------------------------------------------------------------------------------------------------------ tampering


def places(form, path=()):
    """Every place in nested JSON that holds a number, a text or a truth value, as a path."""
    items = form.items() if isinstance(form, dict) else enumerate(form) if isinstance(form, list) else ()
    for key, value in items:
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


def changed(value, draw):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + draw.choice([-2, -1, 1, 2])
    if isinstance(value, float):
        return value * 2 + 1
    return value[:-1] + chr(ord(value[-1]) + 1) if value else "x"


KINDS = ["substitution", "evidence", "formula", "hash", "dropped", "conditions", "roots", "operator", "any", "swapped"]


def tampered(form, seed):
    """One change somewhere in the certificate, and what it was."""
    draw = random.Random(seed)
    form = copy.deepcopy(form)
    kind = draw.choice(KINDS)
    uses = [step for step in form["steps"] if "proof" in step[2]]
    proof = form["proofs"][draw.choice(sorted(form["proofs"]))]
    match kind:
        case "substitution":
            terms = draw.choice(uses)[2]["terms"]
            name = draw.choice(sorted(terms))
            terms[name] = (terms[name] + draw.randrange(1, len(form["terms"]))) % len(form["terms"])
        case "evidence":
            other = sorted(form["proofs"])
            step = draw.choice(uses)[2]
            other.remove(step["proof"])
            step["proof"] = draw.choice([*other, "P0"])
        case "formula":
            node = draw.choice(proof["claim"]["nodes"])
            path = draw.choice(list(places(node)))
            put(node, path, changed(get(node, path), draw))
        case "hash":
            draw.choice([lambda: form["left"].update(identity="0" * 64), lambda: form.update(seal="0" * 64)])()
        case "dropped":
            form["steps"].pop(draw.randrange(len(form["steps"])))
        case "conditions":
            where = draw.choice([p for p in (proof, form) if p["conditions"]])
            where["conditions"] = where["conditions"][1:] if draw.random() < 0.5 else [*where["conditions"], "x > 0"]
        case "roots":
            form["roots"][0][1:], form["roots"][1][1:] = form["roots"][1][1:], form["roots"][0][1:]
        case "operator":
            node = draw.choice([n for n in proof["block"]["nodes"] if n["operator"] != "input"])
            node["operator"] = "aten.relu.default" if node["operator"] != "aten.relu.default" else "aten.exp.default"
        case "swapped":
            k = draw.randrange(len(form["steps"]) - 1)
            form["steps"][k][0] = form["steps"][k + 1][0]
        case "any":
            path = draw.choice([p for p in places(form) if p[0] != "seal"])
            kind = f"any {path}"
            put(form, path, changed(get(form, path), draw))
    return form, kind


def get(form, path):
    for key in path:
        form = form[key]
    return form


def put(form, path, value):
    get(form, path[:-1])[path[-1]] = value


def sealed(form):
    return {**form, "seal": digest({key: value for key, value in form.items() if key != "seal"})}


@pytest.mark.parametrize("seed", range(100))
def test_a_change_is_noticed_by_the_seal(certified, seed):
    form, _ = tampered(certified[0], seed)
    with pytest.raises(Broken):
        replay(form)


@pytest.mark.parametrize("seed", range(200))
def test_a_change_is_noticed_although_it_was_sealed_again(certified, seed):
    form, kind = tampered(certified[0], seed)
    with pytest.raises(Broken) as broken:
        replay(sealed(form) if kind != "hash" or form["seal"] != "0" * 64 else form)
    assert str(broken.value).strip() and "\n" not in str(broken.value) and "malformed" not in str(broken.value)


def renamed(form):
    """The certificate with every digest that it holds of itself worked out again, as a forger would."""
    names = {name: f"P{digest(proof)[:16]}" for name, proof in form["proofs"].items()}
    proofs = {names[name]: proof for name, proof in form["proofs"].items()}
    steps = [[a, b, {**r, "proof": names[r["proof"]]} if "proof" in r else r] for a, b, r in form["steps"]]
    for side in ("left", "right"):
        form[side]["identity"] = digest(form[side]["graph"])
    return sealed({**form, "proofs": proofs, "steps": steps})


FORGED = {
    "num": lambda row: [*row[:1], str(int(row[1]) + 1)] if row[1].lstrip("-").isdigit() else None,
    "pow": lambda row: [*row[:2], "3"],
    "fn": lambda row: [row[0], "sin", row[2]],
    "add": lambda row: ["mul", row[1]],
    "mul": lambda row: ["add", row[1]],
    "extremum": lambda row: [row[0], "min" if row[1] == "max" else "max", row[2]],
}


def test_a_formula_forged_with_all_digests_is_refuted(certified):
    """Every node of every formula of every proof, changed one at a time. What both sides share is changed on both, and
    then the second prover agrees; torch's operators do not. Accepted is only what means the same as before."""
    tried = refuted = 0
    for name, proof in certified[0]["proofs"].items():
        for place, row in enumerate(proof["claim"]["nodes"]):
            forged = FORGED.get(row[0], lambda row: None)(row)
            if forged is None:
                continue
            form, tried = copy.deepcopy(certified[0]), tried + 1
            form["proofs"][name]["claim"]["nodes"][place] = forged
            try:
                replay(renamed(form))
            except Broken:
                refuted += 1
            else:
                assert means_the_same(proof["claim"], form["proofs"][name]["claim"]), (name, place, row)
    assert tried > 80 and refuted > 0.7 * tried


def means_the_same(claim, forged):
    """By the other evaluator, on random inputs."""
    draw = torch.Generator().manual_seed(0)
    shapes = {name: [int(claim["nodes"][p][1]) for p in shape] for name, shape, *_ in claim["leaves"]}
    inputs = {name: torch.randn(shape, generator=draw, dtype=torch.float64).numpy() for name, shape in shapes.items()}
    found = []
    for form in (claim, forged):
        *indices, left, right = decoded({**form, "roots": [*form["indices"], form["left"], form["right"]]})
        for side in (left, right):
            shape = tuple(int(i.extent.value) for i in indices)
            whole = tensor(shape, lambda *at, e=side, i=indices: substitute(e, dict(zip(i, at, strict=True))))
            found.append(evaluate(whole, inputs))
    return all(x.shape == y.shape and np.allclose(x, y) for x, y in zip(found[:2], found[2:], strict=True))


def test_another_graph_is_told_apart(certified):
    form, graphs = certified
    given = [json.loads(json.dumps(to_json(graph))) for graph in graphs]
    with pytest.raises(Broken, match="the left graph given is another"):
        replay(form, tuple(reversed(given)))


HEAD = {"format": "samesame certificate"}


@pytest.mark.parametrize("form", [None, [], {}, "text", HEAD, {**HEAD, "version": 1}])
def test_what_is_no_certificate_is_refused(form):
    with pytest.raises(Broken):
        replay(form)


QUESTION = "(declare-fun x () Int)(assert (> x {}))(assert (< x 3))(check-sat)"


@pytest.mark.parametrize("least, holds", [(3, True), (1, False)])
def test_a_solver_answers_again_in_a_process_of_its_own(certified, least, holds):
    form = copy.deepcopy(certified[0])
    proof = next(iter(form["proofs"].values()))
    proof.update(method="smt", queries=[{"text": QUESTION.format(least), "answer": "unsat"}])
    if holds:
        assert any("1 questions" in line for line in replay(renamed(form))[0])
    else:
        with pytest.raises(Broken, match="the solver answers sat"):
            replay(renamed(form))


def test_questions_are_kept_when_asked_for():
    i, n = index(Size("n", 2)), Size("n", 2)
    x = leaf("x", (n,))
    with recording_questions() as questions:
        proved = prove_equal(where(lt(i * i, n * n), x[i], 0), x[i])
    assert isinstance(proved, Proved) and (proved.method == "smt") == bool(questions)
    assert all("(check-sat)" in text for text in questions)


def test_a_file_that_is_no_json_is_refused(tmp_path):
    for content in (b"", b"{", b"\x1f\x8bnonsense"):
        (tmp_path / "c.json").write_bytes(content)
        with pytest.raises(Broken, match="cannot be read"):
            read(tmp_path / "c.json")
    with pytest.raises(Broken, match="cannot be read"):
        read(tmp_path / "none.json")


def test_what_depends_on_an_input_is_no_constant(certified):
    form = copy.deepcopy(certified[0])
    constant = next(k for k, term in enumerate(form["terms"]) if term[0] == "constant")
    _, a, b = form["roots"][0]
    form["terms"][constant][3] = form["terms"][a][3]
    form["steps"] = [[a, constant, {"constant": True}], [b, constant, {"constant": True}]]
    with pytest.raises(Broken, match="no constant"):
        replay(renamed(form))


def test_a_weight_is_a_layout_of_weights_and_nothing_else(certified):
    form = copy.deepcopy(certified[0])
    name, _ = max(form["weights"].items())
    other = form["right"]["terms"][form["right"]["graph"]["roots"][0][1]]
    form["weights"][name] = form["right"]["terms"][name] = other
    with pytest.raises(Broken, match="no layout of left weights"):
        replay(renamed(form))
