"""Certificates: what was proved is replayed step by step; whatever is changed in one is noticed, and what two programs
that differ would need to pass is refused."""

from __future__ import annotations

import ast
import copy
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import opaque_operators  # noqa: F401    registers planted::*
from pairs.corpus import PAIRS
from samesame import check, evaluator
from samesame.capture import capture
from samesame.certificate.replay import FORMAT, VERSION, Broken, Unreadable, digest, read, replay
from samesame.formula import dag
from samesame.formula.dag import decoded
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Opaque, Size, Sum, absolute, add, index, lt, maximum, minimum, substitute, where
from samesame.formula.smt import recording as recording_questions
from samesame.formula.tensor import leaf, tensor
from samesame.operators import meaning_of


class Left(nn.Module):
    """Layers of attention as they are written in papers; the layers share their weights."""

    def __init__(self, layers=3):
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.v, self.o = (nn.Linear(4, 4) for _ in range(4))
        self.norm, self.layers = nn.LayerNorm(4), layers

    def forward(self, x):
        for _ in range(self.layers):
            y = self.norm(x)
            q, k, v = self.q(y), self.k(y), self.v(y)
            scores = q @ k.transpose(-1, -2) / 2
            mask = torch.ones(x.shape[1], x.shape[1]).tril() == 0
            x = x + self.o(scores.masked_fill(mask, float("-inf")).softmax(-1) @ v)
        return x, nn.functional.gelu(x)


class Right(nn.Module):
    """The same, fused."""

    def __init__(self, layers=3):
        super().__init__()
        left = Left(layers)
        self.qkv = nn.Parameter(torch.cat([left.q.weight, left.k.weight, left.v.weight]).detach())
        self.bias = nn.Parameter(torch.cat([left.q.bias, left.k.bias, left.v.bias]).detach())
        self.o, self.norm, self.layers = left.o, left.norm, layers

    def forward(self, x):
        for _ in range(self.layers):
            mean = x.mean(-1, keepdim=True)
            y = (x - mean) / (((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.norm.weight
            y = y + self.norm.bias
            q, k, v = nn.functional.linear(y, self.qkv, self.bias).split(4, -1)
            x = x + self.o(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x, x * 0.5 * (1 + torch.erf(x / 2**0.5))


class Turned(nn.Module):
    """A rotation by angles from a table: computed for every row, or once and repeated."""

    def __init__(self, repeated):
        super().__init__()
        self.repeated = repeated
        self.register_buffer("rates", torch.tensor([1.0, 0.37, 0.11]))

    def forward(self, x):
        angles = torch.arange(5.0)[:, None] * self.rates
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        if self.repeated:
            cos, sin = cos.expand(2, 5, 6).contiguous(), sin.expand(2, 5, 6).contiguous()
            a, b = x.split(3, -1)
            return x * cos + torch.cat([-b, a], -1) * sin
        return x * cos + torch.cat([-x[..., 3:], x[..., :3]], -1) * sin


X = (torch.linspace(-2, 2, 24).reshape(2, 3, 4),)
MASK = torch.ones(2, 5, 5).tril().bool()


def masked(q, k, v, mask):
    return (q @ k.transpose(-1, -2) / 2).masked_fill(~mask, float("-inf")).softmax(-1) @ v


def fused(q, k, v, mask):
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def hidden(function, by=-np.inf):
    """A program of numbers, some of which a mask hides: what is in front of a proof may be infinite."""
    return lambda x, mask: function(x.masked_fill(mask, by))


def of_pair(name):
    return next((pair.left, pair.right, pair.inputs) for pair in PAIRS if pair.name == name)


def at_these_sizes():
    return capture(Left(1), X, name="left"), capture(Right(1), X, name="right"), ()


def picked_of_all(x):
    return x.softmax(-1).topk(2)


def picked_first(x):
    values, places = x.topk(2)
    return (values - x.logsumexp(-1, keepdim=True)).exp(), places


PROGRAMS = {
    "layers, for all sizes": lambda: (Left, Right, X),
    "at these sizes": at_these_sizes,
    "a mask without its guard": lambda: (masked, fused, (*torch.randn(3, 2, 5, 4).unbind(), MASK)),
    "tables": lambda: (Turned(False), Turned(True), (torch.randn(2, 5, 6),)),
    "questions": lambda: of_pair("rope on flat tokens"),
    "sums asked about": lambda: of_pair("group norm by reshape"),
    "indices": lambda: of_pair("cross-entropy with ignored targets"),
    "positions": lambda: (picked_of_all, picked_first, torch.randn(3, 5)),
    "through −∞": lambda: (hidden(lambda h: h.exp() ** 2), hidden(lambda h: (2 * h).exp()),
                           (torch.randn(5), ~MASK[0, 2])),
    "opaque": lambda: (torch.ops.planted.swish, lambda x: x * torch.sigmoid(x), X),
}


# All tests of a certificate in a row: the process that made it goes on with it.
about_each = pytest.mark.parametrize("name", PROGRAMS, scope="module")


class Certificates(dict):
    """By name, each made when it is first asked for: of two processes none has to make those of the other's tests."""

    def __missing__(self, name):
        torch.manual_seed(0)
        verdict = check(*PROGRAMS[name](), certify=True)
        assert verdict.verdict == "same", name
        return self.setdefault(name, json.loads(json.dumps(verdict.certificate)))


@pytest.fixture(scope="module")
def certificates():
    return Certificates()


@about_each
def test_a_certificate_replays(certificates, name):
    form = certificates[name]
    checked, trusted = replay(form)
    assert any(" equal by " in line for line in checked) and trusted
    assert not any("cannot work out" in line or "not run here" in line or "constant" in line for line in trusted)


def test_the_certificates_are_of_the_kinds_they_are_meant_to_be(certificates):
    """Rules used more than once, questions, constants, guards left out, tests, both rungs of proofs."""
    uses = [step[2]["proof"] for step in certificates["layers, for all sizes"]["steps"] if "proof" in step[2]]
    assert len(set(uses)) < len(uses)
    assert certificates["layers, for all sizes"]["evidence"] == "proved for all sizes"
    assert certificates["at these sizes"]["evidence"] == "proved at these sizes"
    assert certificates["opaque"]["evidence"] == "tested"
    assert any(proof["queries"] for proof in certificates["sums asked about"]["proofs"].values())
    assert any(proof["settled"] for proof in certificates["questions"]["proofs"].values())
    assert any("hides" in c or "mask" in c for c in certificates["a mask without its guard"]["conditions"])
    constant = {"constant": True}
    assert any(step[2] == constant for step in certificates["tables"]["steps"])
    leaves = [row for proof in certificates["indices"]["proofs"].values() for row in proof["claim"]["leaves"]]
    assert any(bounds for *_, bounds in leaves)


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

# Texts and numbers that say how the certificate was made, and sizes at which only the graphs given are looked at.
SAYS_NOTHING = ("seal", "versions", "seed", "sizes")


def tampered(form, seed):
    """The certificate with one change somewhere."""
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
        case "formula" if proof["claim"]:
            node = draw.choice(proof["claim"]["nodes"])
            path = draw.choice(list(places(node)))
            put(node, path, changed(get(node, path), draw))
        case "hash":
            side = draw.choice(["left", "right"])
            draw.choice([lambda: form[side].update(identity="0" * 64), lambda: form.update(seal="0" * 64),
                         lambda: form[side].update(loaded="0" * 64)])()
        case "dropped":
            form["steps"].pop(draw.randrange(len(form["steps"])))
        case "conditions" if form["conditions"]:
            where = draw.choice([p for p in (proof, form) if p["conditions"]] or [form])
            where["conditions"] = where["conditions"][1:] if draw.random() < 0.5 else [*where["conditions"], "x > 0"]
        case "roots" if len(form["roots"]) > 1:
            form["roots"][0][1:], form["roots"][1][1:] = form["roots"][1][1:], form["roots"][0][1:]
        case "operator":
            node = draw.choice([n for n in proof["block"]["nodes"] if n["operator"] != "input"])
            node["operator"] = "aten.relu.default" if node["operator"] != "aten.relu.default" else "aten.exp.default"
        case "swapped" if len(form["steps"]) > 1:
            k = draw.randrange(len(form["steps"]) - 1)
            form["steps"][k][0] = form["steps"][k + 1][0] + (form["steps"][k][0] == form["steps"][k + 1][0])
        case _:
            path = draw.choice([p for p in places(form) if p[0] not in SAYS_NOTHING])
            put(form, path, changed(get(form, path), draw))
    return form


def get(form, path):
    for key in path:
        form = form[key]
    return form


def put(form, path, value):
    get(form, path[:-1])[path[-1]] = value


def sealed(form):
    return {**form, "seal": digest({key: value for key, value in form.items() if key != "seal"})}


def refused(form):
    with pytest.raises(Broken) as broken:
        replay(form)
    sentence = str(broken.value)
    assert sentence.strip() and "\n" not in sentence
    return sentence


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 35))])
@about_each
def test_a_change_is_noticed_whether_or_not_it_was_sealed_again(certificates, name, seed):
    form = tampered(certificates[name], seed)
    refused(form)
    refused(form if form["seal"] == "0" * 64 else sealed(form))


def renamed(form):
    """The certificate with every digest that it holds of itself worked out again, as a forger would."""
    names = {name: f"P{digest(proof)[:16]}" for name, proof in form["proofs"].items()}
    proofs = {names[name]: proof for name, proof in form["proofs"].items()}
    steps = [[a, b, {**r, "proof": names[r["proof"]]} if "proof" in r else r] for a, b, r in form["steps"]]
    for side in ("left", "right"):
        form[side]["identity"], form[side]["loaded"] = digest(form[side]["graph"]), digest(form[side]["tensors"])
    conditions = sorted({c for proof in proofs.values() for c in proof["conditions"]})
    return sealed({**form, "proofs": proofs, "steps": steps, "conditions": conditions})


FORGED = {
    "num": lambda row: [*row[:1], str(int(row[1]) + 1)] if row[1].lstrip("-").isdigit() else None,
    "pow": lambda row: [*row[:2], "3"],
    "fn": lambda row: [row[0], "sin", row[2]],
    "add": lambda row: ["mul", row[1]],
    "mul": lambda row: ["add", row[1]],
    "extremum": lambda row: [row[0], "min" if row[1] == "max" else "max", row[2]],
}


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in (1, 2))])
def test_a_formula_forged_with_all_digests_is_refuted(certificates, first):
    """Every node of every formula of every proof, changed one at a time, in three parts. What both sides share is
    changed on both, and then the second prover agrees; torch's operators do not. Accepted is only what means the same
    as before."""
    tried = refuted = 0
    original = certificates["at these sizes"]
    for name, proof in original["proofs"].items():
        for place, row in [*enumerate(proof["claim"]["nodes"])][first::3]:
            forged = FORGED.get(row[0], lambda row: None)(row)
            if forged is None:
                continue
            form, tried = copy.deepcopy(original), tried + 1
            form["proofs"][name]["claim"]["nodes"][place] = forged
            try:
                replay(renamed(form))
            except Broken:
                refuted += 1
            else:
                assert means_the_same(proof["claim"], form["proofs"][name]["claim"]), (name, place, row)
    assert tried > 26 and refuted > 0.7 * tried


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


# --------------------------------------------------------------------------- certificates for programs that differ


def node(name, operator, *args, type_=("float32", [4]), **kwargs):
    args = [{"node": a[1:]} if isinstance(a, str) and a.startswith("%") else a for a in args]
    return {"name": name, "operator": operator, "args": args, "kwargs": kwargs, "type": [type_[0], list(type_[1])]}


def forgery(left, right, claim=None, *, inputs=(("x", "float32"),), rung="proved at these sizes", **changes):
    """A certificate, written by hand, that the last nodes of two lists are equal: one block over the inputs."""
    shape = changes.pop("shape", [4])
    sources = [node(name, "input", type_=(dtype, shape)) for name, dtype in inputs]
    terms, sides, block, bound = [], {}, list(sources), {}
    for side, nodes in (("left", left), ("right", right)):
        of = {}
        for position, n in enumerate([*sources, *nodes]):
            reads = [a["node"] for a in n["args"] if isinstance(a, dict) and "node" in a]
            slots = iter(range(9))
            told = [{"slot": next(slots)} if isinstance(a, dict) and "node" in a else a for a in n["args"]]
            kind = {"f": "real", "i": "int", "b": "bool"}[n["type"][0][0]]
            shown = ["input", [position]] if n["operator"] == "input" else [n["operator"], [told, []]]
            term = [*shown, [of[r] for r in reads], {"shape": n["type"][1], "kind": kind}]
            if term not in terms:
                terms.append(term)
            of[n["name"]] = terms.index(term)
            if n["operator"] != "input":
                own = {"node": lambda a, s=side, ins=dict(inputs): a if a in ins else f"{s}_{a}"}["node"]
                args = [{"node": own(a["node"])} if isinstance(a, dict) and "node" in a else a for a in n["args"]]
                block.append({**n, "name": own(n["name"]), "args": args})
                bound[own(n["name"])] = of[n["name"]]
            else:
                bound[n["name"]] = of[n["name"]]
        graph = {"nodes": [*sources, *nodes], "roots": [["y", nodes[-1]["name"]]]}
        sides[side] = {"graph": graph, "terms": of, "tensors": {}, "identity": "", "loaded": ""}
    ends = [bound[f"{side}_{nodes[-1]['name']}"] for side, nodes in (("left", left), ("right", right))]
    proof = {"claim": json.loads(json.dumps(claim)), "method": "normal form", "detail": "", "rung": rung,
             "conditions": [], "settled": False, "queries": [],
             "block": {"nodes": block, "left": f"left_{left[-1]['name']}", "right": f"right_{right[-1]['name']}",
                       "constants": {}}}
    proof |= {key: changes.pop(key) for key in ("conditions", "method", "settled") if key in changes}
    return renamed({"format": FORMAT, "version": VERSION, "versions": {}, "seed": 0, "evidence": rung, "sizes": {},
                    "region": {"bounds": {}, "conditions": []}, "not_followed": [],
                    **sides, "weights": {}, "terms": terms, "constants": {}, "proofs": {"P": proof}, "conditions": [],
                    "steps": [[*ends, {"proof": "P", "terms": bound}]], "roots": [["y", *ends]], **changes})


def about(*sides, inputs=(("x", "real"),), shape=(4,), bounds=None):
    leaves = [leaf(name, shape, kind, bounds if kind == "int" else None) for name, kind in inputs]
    return dag.claim(*(tensor(shape, lambda *i, side=side: side(*(x[i] for x in leaves))) for side in sides))


RELU = [node("y", "aten.relu.default", "%x")]
CLAMP = [node("y", "aten.clamp.default", "%x", 0)]
TWO = (("x", "float32"), ("z", "float32"))


def relu(x):
    return maximum(x, 0)


def test_a_certificate_written_by_hand_holds():
    assert replay(forgery(RELU, CLAMP, about(relu, relu)))


@pytest.mark.parametrize("claim", [about(lambda x: x, lambda x: x), about(relu, relu), about(relu, lambda x: x)])
def test_formulas_that_are_not_the_operators(claim):
    refused(forgery(RELU, [node("y", "aten.abs.default", "%x")], claim))


def test_formulas_of_picked_positions_are_not_the_operators():
    """What has no meaning is no formula that torch could be held to; the two sides are."""
    positions = meaning_of("aten.argsort.default")(leaf("x", (4,)))
    up, down = ([node("y", "aten.argsort.default", "%x", -1, flag, type_=("int64", [4]))] for flag in (False, True))
    turned = [node("z", "aten.neg.default", "%x"), {**down[0], "args": [{"node": "z"}, *down[0]["args"][1:]]}]
    assert replay(forgery(up, turned, dag.claim(positions, positions)))
    assert "torch" in refused(forgery(up, down, dag.claim(positions, positions)))


def test_formulas_bring_in_nothing_without_a_meaning():
    """Else a formula that nobody could work out would hide the operators from torch."""
    def hidden(e):
        return add(e, Opaque("planted.swish.default", (), (), (), "real"))

    assert "other operators" in refused(forgery(RELU, CLAMP, about(hidden, hidden)))


def test_a_tensor_that_the_formulas_leave_out():
    """x + z is not x, though it is where z is zero."""
    left, right = [node("y", "aten.add.Tensor", "%x", "%z")], [node("y", "aten.mul.Tensor", "%x", 1)]
    assert "torch" in refused(forgery(left, right, about(lambda x: x, lambda x: x), inputs=TWO))


@pytest.mark.parametrize("limit", [3.0, 40.0])
def test_a_difference_far_from_zero(limit):
    left, right = RELU, [node("y", "aten.clamp.default", "%x", 0, limit)]
    assert "torch" in refused(forgery(left, right, about(relu, relu)))
    assert "refuted" in refused(forgery(left, right, about(relu, lambda x: minimum(relu(x), int(limit)))))


def test_a_difference_at_one_point():
    def steps(operator):
        below = node("b", operator, "%x", 0, type_=("bool", [4]))
        return [below, node("y", "aten._to_copy.default", "%b", type_=("int64", [4]))]

    claim = about(*[lambda x: where(lt(x, 0), 1, 0)] * 2)
    refused(forgery(steps("aten.lt.Scalar"), steps("aten.le.Scalar"), claim))


def test_a_claim_too_large_to_work_out():
    """What has too many elements for the second prover is run by torch all the same."""
    type_ = "float32", [3000, 3000]
    left, right = ([node("y", f"aten.{name}.default", "%x", type_=type_)] for name in ("relu", "abs"))
    x = leaf("x", (3000, 3000))
    whole = tensor((3000, 3000), lambda i, j: Sum((3000, 3000), lambda k, m: x[k, m]) + x[i, j])
    assert "different sides" in refused(forgery(left, right, dag.claim(whole, whole), shape=[3000, 3000]))


def test_a_range_that_the_formulas_bring_along_is_told():
    """Integers that are all 0 are equal to their doubles."""
    left, right = ([node("y", "aten.mul.Tensor", "%x", k, type_=("int64", [4]))] for k in (1, 2))
    claim = about(lambda x: x, lambda x: 2 * x, inputs=(("x", "int"),), bounds=(0, 0))
    form = forgery(left, right, claim, inputs=(("x", "int64"),))
    assert any("lies in the range 0 to 0" in line for line in replay(form)[1])


def test_a_random_number_is_no_function():
    rand = [node("y", "aten.rand_like.default", "%x")]
    form = forgery(rand, rand, None, rung="tested")
    form["proofs"], form["steps"] = {}, []
    assert "random" in refused(renamed(form))


def test_a_test_is_no_proof():
    """Equal on normal values, and not where x is 1000."""
    right = [node("y", "aten.clamp.default", "%x", 0, 1000.0)]
    form = forgery(RELU, right, None, rung="tested")
    assert "different sides" in refused(form)
    proof = next(iter(form["proofs"].values()))
    proof["rung"] = form["evidence"] = "proved at these sizes"
    assert "no formulas" in refused(renamed(form))


def test_other_dtypes_shapes_and_names():
    form = forgery(RELU, CLAMP, about(relu, relu))
    for change in (
        lambda f: f["terms"][0][3].update(shape=[5]),
        lambda f: f["terms"][0][3].update(kind="int"),
        lambda f: f["left"]["graph"]["nodes"].append(f["left"]["graph"]["nodes"][0]),
        lambda f: f["left"]["graph"]["nodes"].reverse(),
        lambda f: f["proofs"][next(iter(f["proofs"]))]["block"]["nodes"][0]["type"].__setitem__(0, "int64"),
        lambda f: f.update(roots=[]),
        lambda f: f.update(evidence="proved for all sizes"),
        lambda f: f["steps"].insert(0, [-1, -2, {"congruence": True}]),
    ):
        forged = copy.deepcopy(form)
        change(forged)
        refused(renamed(forged))


def test_a_size_with_a_larger_least_value(certificates):
    """What holds from 7 on holds for the second prover's sizes, and not for all."""
    original = certificates["layers, for all sizes"]
    for name, proof in original["proofs"].items():
        for place, row in enumerate(proof["claim"]["nodes"]):
            if row[0] == "size":
                form = copy.deepcopy(original)
                form["proofs"][name]["claim"]["nodes"][place] = [*row[:2], 7]
                assert "not one of the inputs'" in refused(renamed(form))


def test_constants_are_computed_again():
    def plus(operator):
        made = node("c", operator, [4], dtype={"dtype": "float32"})
        return [made, node("y", "aten.add.Tensor", "%x", "%c")]

    form = forgery(plus("aten.ones.default"), plus("aten.zeros.default"), about(lambda x: x, lambda x: x))
    made = [k for k, term in enumerate(form["terms"]) if term[0] in ("aten.ones.default", "aten.zeros.default")]
    for k in made:
        form["terms"][k][1][1] = [["dtype", {"dtype": "float32"}]]
    ones, zeros = made
    form["terms"].append(["constant", ["0" * 64], [], {"shape": [4], "kind": "real"}])
    last = len(form["terms"]) - 1
    a, b = form["roots"][0][1:]
    form["proofs"] = {}
    for via in ([[ones, zeros]], [[ones, last], [zeros, last]]):
        form["steps"] = [[*pair, {"constant": True}] for pair in via] + [[a, b, {"congruence": True}]]
        assert "the two constants" in refused(renamed(form))


def test_a_constant_of_a_graph_is_held_to_its_value(certificates):
    form = copy.deepcopy(certificates["tables"])
    name = next(n["name"] for n in form["right"]["graph"]["nodes"] if n["operator"] == "constant")
    form["right"]["tensors"][name] = "0" * 64
    assert "another constant" in refused(renamed(form))


def test_what_depends_on_an_input_is_no_constant(certificates):
    form = copy.deepcopy(certificates["at these sizes"])
    _, a, b = form["roots"][0]
    constant = len(form["terms"])
    form["terms"].append(["constant", ["0" * 64], [], form["terms"][a][3]])
    form["steps"] = [[a, constant, {"constant": True}], [b, constant, {"constant": True}]]
    assert "no constant" in refused(renamed(form))


def test_a_weight_is_a_layout_of_weights_and_nothing_else(certificates):
    form = copy.deepcopy(certificates["layers, for all sizes"])
    name = next(iter(form["weights"]))
    other = form["right"]["terms"][form["right"]["graph"]["roots"][0][1]]
    form["weights"][name] = form["right"]["terms"][name] = other
    refused(renamed(form))


def test_a_weight_has_the_values_of_its_partner(certificates):
    form = copy.deepcopy(certificates["layers, for all sizes"])
    form["right"]["tensors"]["o.weight"] = "0" * 64
    assert "has other values than the left" in refused(renamed(form))


# -------------------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("form", [None, [], {}, "text", {"format": FORMAT}, {"format": FORMAT, "version": 99}])
def test_what_is_no_certificate_is_refused(form):
    with pytest.raises(Unreadable):
        replay(form)


def test_an_empty_certificate_is_refused():
    refused({"format": FORMAT, "version": VERSION})


QUESTION = "(declare-fun x () Int)(assert (> x {}))(assert (< x 3))(check-sat)"


@pytest.mark.parametrize("least, holds", [(3, True), (1, False)])
def test_a_solver_answers_again_in_a_process_of_its_own(least, holds):
    form = forgery(RELU, CLAMP, about(relu, relu), method="smt")
    assert "asks it nothing" in refused(form)
    next(iter(form["proofs"].values()))["queries"] = [QUESTION.format(least)]
    if holds:
        assert any("1 other question by" in line for line in replay(renamed(form))[0])
    else:
        assert "the solver answers sat" in refused(renamed(form))


def test_what_the_solver_settles_is_asked_anew_from_the_formulas(certificates):
    """The certificate says that, and nothing else; what it says is not believed."""
    settled = forgery(RELU, CLAMP, about(relu, relu), method="smt", settled=True)
    assert any("1 of them by a fresh solver process" in line for line in replay(settled)[0])
    other = about(relu, lambda x: (x + absolute(x)) / 2)           # of |x| the solver knows nothing
    assert "answers sat" in refused(forgery(RELU, CLAMP, other, settled=True))
    for name, kind in (("sums asked about", "no words"), ("opaque", "malformed")):
        form = copy.deepcopy(certificates[name])
        next(iter(form["proofs"].values()))["settled"] = True
        assert kind in refused(renamed(form))


@about_each
def test_no_term_is_without_use(certificates, name):
    form = certificates[name]
    used = {term for side in ("left", "right") for term in form[side]["terms"].values()}
    used |= {term for a, b, reason in form["steps"] for term in (a, b, *reason.get("terms", {}).values())}
    used |= {argument for _, _, arguments, _ in form["terms"] for argument in arguments}
    assert used == set(range(len(form["terms"])))


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
        with pytest.raises(Unreadable, match="cannot be read"):
            read(tmp_path / "c.json")
    with pytest.raises(Unreadable, match="cannot be read"):
        read(tmp_path / "none.json")


def test_a_proof_through_infinities_is_replayed_with_masks_in_front(certificates):
    form = certificates["through −∞"]
    assert "1 step by proofs with any masks of an infinity in front, too" in replay(form)[0]
    (step,) = [step for _, _, step in form["steps"] if "masked" in step]
    plain, masked = step["proof"], step["masked"]
    assert len(form["proofs"][masked]["block"]["nodes"]) == len(form["proofs"][plain]["block"]["nodes"]) + 2


@pytest.mark.parametrize("forged", ["left out", "the claim about numbers", "a mask that is none"])
def test_masks_that_are_not_in_front_are_noticed(certificates, forged):
    form = copy.deepcopy(certificates["through −∞"])
    (step,) = [step for _, _, step in form["steps"] if "masked" in step]
    if forged == "left out":
        del step["masked"]
    elif forged == "the claim about numbers":
        form["proofs"].pop(step["masked"])
        step["masked"] = step["proof"]
    else:
        proof = form["proofs"].pop(step["masked"])
        fill = next(node for node in proof["block"]["nodes"] if node["operator"] == "aten.masked_fill.Scalar")
        fill["args"][2] = 0.0
        step["masked"] = f"P{digest(proof)[:16]}"
        form["proofs"][step["masked"]] = proof
    form = {key: value for key, value in form.items() if key != "seal"}
    with pytest.raises(Broken):
        replay({**form, "seal": digest(form)})


def test_masks_of_plus_infinity_are_replayed_too():
    left, right = hidden(lambda h: (-h).exp() ** 2, np.inf), hidden(lambda h: (-2 * h).exp(), np.inf)
    verdict = check(left, right, (torch.randn(5), ~MASK[0, 2]), certify=True)
    assert verdict.verdict == "same"
    checked, trusted = replay(json.loads(json.dumps(verdict.certificate)))
    assert "1 step by proofs with any masks of an infinity in front, too" in checked
    assert not any("infinities" in line for line in trusted)


def test_numbers_for_bytes_are_drawn_from_bytes_and_of_that_nobody_is_to_be_trusted():
    def by_division(q, s):
        return (torch.stack([q % 16, q // 16], -1).flatten(-2).float() - 8) * s

    def by_bits(q, s):
        return (torch.stack([q & 15, q >> 4], -1).flatten(-2).float() - 8) * s

    q = torch.randint(0, 256, (4, 6), dtype=torch.uint8)
    verdict = check(by_division, by_bits, (q, torch.rand(4, 1)), certify=True)
    assert verdict.verdict == "same"
    assert not any("in the range" in line for line in replay(json.loads(json.dumps(verdict.certificate)))[1])


AUDITED = {"replay", "forms", "questions", "runs", "stored"}


def test_what_there_is_to_audit_imports_nothing_else_and_stays_short():
    """The replayer and the second prover; the aim is 600 lines, and they grow only with what is checked."""
    folder = Path(sys.modules["samesame.certificate.replay"].__file__).parent
    files = [*(folder / f"{name}.py" for name in AUDITED), Path(evaluator.__file__)]
    for file in files:
        for found in ast.walk(ast.parse(file.read_text())):
            if isinstance(found, ast.ImportFrom) and (found.module or "").startswith("samesame"):
                names = {alias.name for alias in found.names}
                room, _, part = found.module.partition("certificate")
                assert names == {"evaluator"} or part.removeprefix(".") in AUDITED or (room and names <= AUDITED)
    assert sum(len(file.read_text().splitlines()) for file in files) <= 1820
