"""A rule closes the gaps that are its instances and no others, at any size, in this run and the next; what a store or a
file says of it is believed only as far as it can be proved."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cache

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_generalise import blocks, ones
from torch.nn import functional as F
from typer.testing import CliRunner

from samesame import evaluator
from samesame.check import check
from samesame.cli import app
from samesame.evidence import Evidence, Rung
from samesame.formula.assumptions import Holds, holds
from samesame.formula.equal import Budget
from samesame.formula.expr import Leaf, Load, Size, Sum, index, lt, walk
from samesame.formula.tensor import leaf
from samesame.graph import Graph, Node, TensorType
from samesame.relate import rules
from samesame.relate.blocks import Block, key_of
from samesame.relate.prove import Prover
from samesame.relate.rules import Disagreement, Rulebook, entry_of, reproved
from samesame.store import Store
from samesame.store.tried import Attempt, Tried


def norm(x, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def norm_by_hand(x, eps=1e-5):
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + eps)


def opened(notices=None, versions=None) -> Store:
    prover, semantics = versions or rules.versions()
    notice = notices.append if notices is not None else pytest.fail
    return Store.in_memory(prover=prover, semantics=semantics, notice=notice)


def moved(store: Store, **changed) -> list[str]:
    """Change what the store's entries say, with checksums that fit; the notices it gives from now on."""
    store.put([replace(entry, **{k: v(getattr(entry, k)) for k, v in changed.items()}) for entry in store.all()])
    notices: list[str] = []
    store.notice = notices.append
    return notices


# ------------------------------------------------------------------------------------------------------ other sizes


def test_a_rule_learnt_at_one_size_closes_the_gap_at_another_without_a_proof():
    store = opened()
    first = check(norm, norm_by_hand, (ones(3, 8),), store=store)
    assert first.counts["proofs"] > 0 and store.all()
    again = check(norm, norm_by_hand, (ones(4, 20),), store=store)
    assert again.evidence is Rung.PROVED
    assert again.counts["proofs"] == again.counts["attempts"] == 0 < again.counts["by rule"]


def test_another_epsilon_is_another_instance():
    store = opened()
    check(norm, norm_by_hand, (ones(3, 8),), store=store)
    other = check(lambda x: norm(x, 1e-6), lambda x: norm_by_hand(x, 1e-6), (ones(3, 8),), store=store)
    assert other.verdict == "same" and other.counts["proofs"] == other.counts["attempts"] == 0
    wrong = check(lambda x: norm(x, 1e-3), lambda x: norm_by_hand(x, 1e-4), (ones(3, 8),), store=store)
    assert wrong.verdict == "different"


# -------------------------------------------------------------------------------------------------- blocks made by hand


FOUR_BY_THREE = TensorType((4, 3), "float64")


def block(make, x=FOUR_BY_THREE) -> Block:
    """`make(op, x)` gives the two sides; `op(name, *arguments)` applies an operator that keeps the shape."""
    nodes = [Node("x0", "input", type=x)]

    def op(name: str, *args, type=None) -> Node:
        nodes.append(Node(f"t{len(nodes)}", f"aten.{name}", args, type=type or args[0].type))
        return nodes[-1]

    left, right = make(op, nodes[0])
    graph = Graph("block", tuple(nodes), (("left", left), ("right", right)))
    return Block(graph, {}, {}, False, key_of(graph, {}))


def scaled(number, operator="abs.default"):
    """f(c·x) = c·f(x), which holds for positive c."""
    return block(lambda op, x: (op(operator, op("mul.Tensor", x, number)), op("mul.Tensor", op(operator, x), number)))


def divided(number):
    return block(lambda op, x: (op("div.Tensor", op("mul.Tensor", x, number), number), x))


@pytest.mark.parametrize("operator", ["abs.default", "relu.default"])
def test_a_rule_for_one_number_serves_no_other_where_the_number_matters(operator):
    prover = Prover()
    assert prover.decide(scaled(0.3, operator)) is not None
    assert prover.decide(scaled(-0.3, operator)) is None
    assert prover.decide(scaled(0.7, operator)) is not None and prover.by_rule == 0


def test_a_rule_for_one_number_serves_all_where_it_does_not():
    prover = Prover()
    assert prover.decide(divided(0.3)).method != "rule"
    other = prover.decide(divided(-0.7))
    assert other.method == "rule" and prover.proofs == 1
    assert not other.conditions                            # that −0.7 is not 0 goes without saying


class Slow(Rulebook):
    """A book to which a rule is long in coming."""

    def learn(self, block, evidence, prove):
        ends = time.thread_time() + 1.2
        while time.thread_time() < ends:
            pass


def test_what_is_learnt_takes_no_time_of_other_proofs():
    prover = Prover(book=Slow(), until=time.thread_time() + 1)
    assert prover.decide(divided(0.3)) is not None and not prover.late


def assuming(book: Rulebook, *assumptions: Holds) -> Rulebook:
    """The book whose one rule takes this for granted."""
    (key,) = book.known
    rule = book.known[key]
    book.known[key] = replace(rule, evidence=replace(rule.evidence, conditions=assumptions))
    return book


def test_what_a_rule_takes_for_granted_is_told_of_the_instance():
    """Its sizes, in ranges of indices, too, and its numbers."""
    book = Rulebook()
    Prover(book=book).decide(divided(0.3))
    rows, columns = Size("s0", 2), Size("s1", 2)
    x, number = leaf("x0", (rows, columns)), Load(Leaf("c0", ()), ())
    i = index(rows)
    total = Sum(columns, lambda k: x[i, k])
    assuming(book, holds(lt(number, total)), holds(lt(rows, number * x[i, columns - 1])))
    found = Prover(book=book).decide(replace_sizes(divided(0.75), (20, 30)))
    assert [*map(str, found.conditions)] == ["Σ_{j<30} x0[i, j] > 3 / 4", "3·x0[i, 29] / 4 > 20"]
    (load, *_) = [e for e in walk(found.conditions[0].that) if isinstance(e, Load)]
    assert load.leaf.shape == (20, 30)


def test_a_rule_that_takes_for_granted_what_no_such_instance_keeps_is_not_used():
    book = Rulebook()
    Prover(book=book).decide(divided(0.3))
    assuming(book, holds(lt(Load(Leaf("c0", ()), ()), Fraction(1, 2))))
    prover = Prover(book=book)
    assert prover.decide(divided(0.7)).method != "rule"
    assert prover.decide(divided(0.4)).method == "rule"


def replace_sizes(given: Block, shape) -> Block:
    made: dict[Node, Node] = {}
    for node in given.graph.nodes:
        args = tuple(made.get(a, a) if isinstance(a, Node) else a for a in node.args)
        made[node] = replace(node, args=args, type=TensorType(shape, "float64"))
    roots = tuple((name, made[root]) for name, root in given.graph.roots)
    graph = replace(given.graph, nodes=tuple(made.values()), roots=roots)
    return replace(given, graph=graph, key=key_of(graph, {}))


def at_least_four(size) -> Block:
    """x · max(Σ1, 4) = x · Σ1, which holds where there are four or more; sizes stand in types only."""

    def sides(op, x):
        count = op("sum.default", op("add.Tensor", op("mul.Tensor", x, 0), 1), type=TensorType((), "float64"))
        return op("mul.Tensor", x, op("clamp.default", count, 4)), op("mul.Tensor", x, count)

    return block(sides, TensorType((size,), "float64"))


def test_what_was_proved_from_a_minimum_on_is_not_used_below_it():
    prover = Prover(sizes={"B": 7})
    assert prover.decide(at_least_four(Size("B", 5))) is not None
    assert prover.decide(at_least_four(Size("B", 2))) is None
    assert prover.decide(at_least_four(6)) is not None
    assert prover.decide(at_least_four(3)) is None


# --------------------------------------------------------------------------------------------------- no false instance


def normed(x):
    return (x - x.mean(-1, True)) * torch.rsqrt(x.var(-1, False, True) + 1e-5)


CLAIMS = [
    (norm, norm_by_hand, (4, 6)),
    (lambda x: F.softmax(x * 0.25, -1), lambda x: torch.exp(x / 4) / torch.exp(x / 4).sum(-1, keepdim=True), (4, 6)),
    (lambda x: F.layer_norm(x, (6,)), normed, (4, 6)),
    (lambda x: x.view(4, 2, 3).sum(1), lambda x: x[:, :3] + x[:, 3:], (4, 6)),
    (lambda x: x.t().reshape(2, 3, 4).sum(1), lambda x: x.view(4, 2, 3).sum(2).t(), (4, 6)),
]  # fmt: skip
OTHERS = ["sin", "exp", "relu", "neg", "abs", "sqrt", "rsqrt", "reciprocal"]


@cache
def learnt() -> tuple[Rulebook, tuple[Block, ...]]:
    prover, found = Prover(), []
    for left, right, shape in CLAIMS:
        for one in blocks(left, right, ones(*shape)):
            if prover.decide(one) is not None:
                found.append(one)
    return prover.book, tuple(found)


def spots(one: Block) -> list[tuple[int, int | None]]:
    """Places to change: an argument that is a number or a tensor, or the operator itself."""
    found: list[tuple[int, int | None]] = []
    for k, node in enumerate(one.graph.nodes):
        found += [(k, None)] if node.operator.removeprefix("aten.").split(".")[0] in OTHERS else []
        found += [(k, a) for a, value in enumerate(node.args) if isinstance(value, int | float | Node)]
    return found


def changed(one: Block, data) -> Block:
    """The block with one thing in one place changed, and the shapes as they were."""
    place, argument = data.draw(st.sampled_from(spots(one)))
    made: dict[Node, Node] = {}
    for k, node in enumerate(one.graph.nodes):
        args = [made[a] if isinstance(a, Node) else tuple(made[p] if isinstance(p, Node) else p for p in a)
                if isinstance(a, tuple) else a for a in node.args]  # fmt: skip
        operator = node.operator
        if k == place and argument is None:
            operator = f"aten.{data.draw(st.sampled_from(OTHERS))}.default"
        elif k == place and isinstance(node.args[argument], Node):
            kind = node.args[argument].type
            args[argument] = data.draw(st.sampled_from([n for n in made.values() if n.type == kind]))
        elif k == place:
            value = node.args[argument]
            args[argument] = data.draw(st.sampled_from([value + 1, value * 2, -value, value - 1]))
        made[node] = replace(node, operator=operator, args=tuple(args))
    graph = replace(one.graph, nodes=tuple(made.values()), roots=tuple((n, made[r]) for n, r in one.graph.roots))
    return replace(one, graph=graph, key=key_of(graph, one.ranges))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_block_that_is_changed_in_one_place_is_closed_by_a_rule_only_if_it_can_be_proved(data):
    book, found = learnt()
    one = changed(data.draw(st.sampled_from(found)), data)
    assume(one.key not in {each.key for each in found})
    try:
        by_rule = book.find(one, Prover().prove)
    except (ValueError, IndexError, TypeError, AssertionError):
        assume(False)  # a dimension that is none
    if by_rule is not None:
        assert isinstance(Prover().prove(one), Evidence), (one.graph.nodes, by_rule)


# --------------------------------------------------------------------------------------------------------- the store


def filled() -> Store:
    store = opened()
    check(norm, norm_by_hand, (ones(3, 8),), store=store)
    assert store.all()
    return store


def used(store: Store) -> dict[str, int]:
    verdict = check(norm, norm_by_hand, (ones(4, 20),), store=store)
    assert verdict.verdict == "same"
    return verdict.counts


FALSE = block(lambda op, x: (op("sin.default", x), op("cos.default", x)))


def tries(book: Rulebook, seconds: float = 4.0) -> int:
    """How often a prover with this book tries to prove what is false."""
    prover = Prover(book=book, budget=Budget(seconds=seconds))
    assert prover.decide(FALSE) is None and prover.rules[FALSE.key].reason
    book.save()
    return prover.attempts


def test_what_was_tried_in_vain_is_not_tried_by_the_next_run():
    store = opened()
    assert tries(Rulebook(store)) == 1
    assert tries(Rulebook(store)) == 0
    assert tries(Rulebook(store), seconds=400) == 0
    assert tries(Rulebook(store, closed=True)) == 1
    store.clear()
    assert tries(Rulebook(store)) == 1


def test_what_time_was_too_short_for_is_tried_again_with_more():
    store = opened()
    Tried(store).keep({FALSE.key: Attempt("more than 2 seconds", 2.0)})
    assert tries(Rulebook(store), seconds=2.0) == 0
    assert tries(Rulebook(store), seconds=4.0) == 1
    assert tries(Rulebook(store), seconds=400) == 0      # it met no limit


def test_an_attempt_that_met_a_limit_of_time_says_how_long_it_was(monkeypatch):
    book = Rulebook(opened())
    monkeypatch.setattr(Prover, "prove", busy)
    Prover(book=book, budget=Budget(seconds=0.1)).decide(FALSE)
    assert book.tried[FALSE.key].seconds is not None
    Prover(book=book, budget=Budget(seconds=60)).decide(replace_sizes(FALSE, (5, 3)))
    assert book.tried[replace_sizes(FALSE, (5, 3)).key].seconds is None


def busy(prover, block):
    until = time.thread_time() + 0.2
    while time.thread_time() < until:
        pass
    return "more than 0.1 seconds"


def test_an_attempt_that_waited_for_others_has_met_no_limit(monkeypatch):
    """On a machine that is busy otherwise: the thread's own time is what counts."""
    book = Rulebook(opened())
    monkeypatch.setattr(Prover, "prove", lambda self, block: time.sleep(0.2) or "they differ")
    Prover(book=book, budget=Budget(seconds=0.1)).decide(FALSE)
    assert book.tried[FALSE.key].seconds is None


def test_an_entry_is_the_rule_it_was_made_of():
    for entry in filled().all():
        whole = json.loads(json.dumps(asdict(entry_of(rules._rule(entry)))))
        assert whole == json.loads(json.dumps(asdict(entry)))
        again = reproved(entry, Prover().prove)
        assert (again.key, again.body) == (entry.key, entry.body)
        assert [*again.evidence["conditions"]] == [*entry.evidence["conditions"]]
        assert "agrees" in entry.evidence["second"]


def test_what_a_rule_takes_for_granted_is_stored_as_data():
    book = Rulebook()
    Prover(book=book).decide(block(lambda op, x: (op("pow.Tensor_Scalar", op("sqrt.default", x), 2), x)))
    (rule,) = book.known.values()
    (one,) = rule.evidence.conditions
    assert str(one) == "x0[i, j] ≥ 0"
    entry = entry_of(rule)
    assert rules._rule(entry).evidence.conditions == (one,) and "if x0[i, j] ≥ 0" in rules.spoken(entry)


def test_sentences_of_an_earlier_version_are_not_read_but_proved_anew():
    book = Rulebook()
    Prover(book=book).decide(block(lambda op, x: (op("pow.Tensor_Scalar", op("sqrt.default", x), 2), x)))
    entry = entry_of(next(iter(book.known.values())))
    old = replace(entry, evidence=entry.evidence | {"conditions": ["x0[i,j] ≥ 0"]})
    with pytest.raises(ValueError, match="no assumption"):
        rules._rule(old)
    assert reproved(old, Prover().prove).evidence["conditions"] == entry.evidence["conditions"]
    assert "if x0[i,j] ≥ 0" in rules.spoken(old)
    store = opened()
    store.put([replace(old, prover="an earlier prover")])
    found = Prover(book=Rulebook(store)).decide(rules._rule(entry).block)
    assert found.method == "rule" and [*map(str, found.conditions)] == ["x0[i, j] ≥ 0"]


def test_a_rule_of_another_version_is_proved_again_before_it_is_used(monkeypatch):
    store, asked = filled(), []
    monkeypatch.setattr(rules, "reproved", lambda entry, prove: asked.append(entry.key) or reproved(entry, prove))
    used(store)
    assert not asked
    store.prover = "a later prover"
    monkeypatch.setattr(rules, "versions", lambda: (store.prover, store.semantics))
    counts = used(store)
    assert asked and counts["proofs"] == 0
    assert not any(store.get(key).stale for key in asked)


def test_a_rule_of_another_version_that_cannot_be_proved_is_not_used():
    wrong = block(lambda op, x: (op("sin.default", x), op("cos.default", x)))
    rule = rules.Rule(wrong.key[:12], wrong, Evidence(Rung.PROVED, "normal form"))
    with pytest.raises(Disagreement):
        entry_of(rule)
    store = opened()
    honest = block(lambda op, x: (op("sin.default", x), op("sin.default", x)))
    entry = entry_of(rules.Rule(honest.key[:12], honest, Evidence(Rung.PROVED, "normal form")))
    body = rules.to_json(replace(wrong.graph, name="rule"))
    store.put([replace(entry, key=wrong.key, body=entry.body | {"graph": body}, prover="an earlier prover")])
    assert isinstance(reproved(store.get(wrong.key), Prover().prove), str)
    assert Prover(book=Rulebook(store)).decide(wrong) is None


@pytest.mark.parametrize("part", ["graph", "ranges"])
def test_a_rule_whose_body_was_changed_is_not_used(part):
    store = filled()
    text = '{"name": "rule"}' if part == "graph" else "none"
    notices = moved(store, body=lambda body: body | {part: text if part == "graph" else [text]})
    counts = used(store)
    assert counts["proofs"] > 0
    assert any("is not used" in notice for notice in notices)
    assert all(
        isinstance(reproved(entry, Prover().prove), str) for entry in store.all() if entry.body[part] in (text, [text])
    )


@pytest.mark.parametrize("told", [{"rung": "tested"}, {"rung": "undecided"}, {"rung": "sure"}, {"conditions": 3}])
def test_a_rule_whose_evidence_is_no_proof_is_not_used(told):
    store = filled()
    notices = moved(store, evidence=lambda evidence: evidence | told)
    assert used(store)["proofs"] > 0 and notices


def test_a_block_under_the_key_of_another_is_refused():
    store = filled()
    moved(store, key=lambda key: key[::-1])
    for entry in store.all():
        outcome = reproved(entry, Prover().prove)
        if entry.key not in {e.key for e in filled().all()}:
            assert outcome == "it holds no rule (its key is not that of its block)"


def test_a_disagreement_of_the_provers_is_an_error_and_nothing_is_kept(monkeypatch):
    store = opened()
    apart = evaluator.Disagreement(sizes={}, draw="generic", element=(0,), left="1", right="2")
    monkeypatch.setattr(evaluator, "compare", lambda claim: apart)
    with pytest.raises(Disagreement, match="the provers disagree on rule"):
        check(norm, norm_by_hand, (ones(3, 8),), store=store)
    assert not store.all()


def test_the_provers_agree_where_the_first_knows_nothing_of_an_operator():
    """An operator is a random map there: of √x·√x and of x it has to be the same."""
    store = opened()
    x = (torch.rand(4) + 0.1, torch.rand(4) + 0.1)
    left, right = (lambda x, y: torch.stack([torch.sqrt(x) ** 2, y])), (lambda x, y: torch.stack([x, y]))
    assert check(left, right, x, store=store).verdict == "same"


def test_what_a_file_says_of_the_evidence_is_not_believed(tmp_path):
    mine, yours, file = tmp_path / "mine.db", tmp_path / "yours.db", tmp_path / "rules.jsonl"
    prover, semantics = rules.versions()
    told = {"detail": "believe me", "conditions": ["the moon is full"], "second": "agrees"}
    with Store.open(mine, prover=prover, semantics=semantics) as store:
        store.put(replace(entry, evidence=entry.evidence | told) for entry in filled().all())
        store.export(file)
    found = CliRunner().invoke(app, ["rules", "import", str(file), "--store", str(yours)])
    assert found.exit_code == 0, found.output
    with Store.open(yours, prover=prover, semantics=semantics) as store:
        assert store.all()
        for entry in store.all():
            assert not {(name, str(entry.evidence[name])) for name in told} & {(k, str(v)) for k, v in told.items()}


def test_a_rule_whose_arguments_have_names_comes_back_from_the_store(tmp_path):
    """JSON keeps names in an order of its own; a key must not depend on it."""

    def fused(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=0.4, enable_gqa=True)

    def plain(q, k, v):
        return ((q * 0.4) @ k.transpose(-1, -2)).softmax(-1) @ v

    inputs = tuple(torch.randn(2, 3, n, 5) for n in (4, 7, 7))
    counts = []
    for _ in range(2):
        with Store.open(tmp_path / "rules.db", prover="p", semantics="s", notice=pytest.fail) as store:
            counts.append(check(fused, plain, inputs, store=store).counts["proofs"])
    assert counts[0] > 0 and counts[1] == 0
