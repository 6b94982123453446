"""Experts that a row chooses: a loop over all of them against a write at the chosen ones, which are all others."""

import torch
import torch.nn.functional as F

from samesame import check

EXPERTS, CHOSEN = 3, 2


def one_by_one(x, router, up):
    """Softmax over all experts, the best ones, their shares of these; a sum over the experts."""
    shares, chosen = torch.topk(F.softmax(x @ router.T, -1), CHOSEN, -1)
    shares = shares / shares.sum(-1, keepdim=True)
    out = torch.zeros_like(x)
    for e in range(EXPERTS):
        out += torch.where(chosen == e, shares, 0).sum(-1, keepdim=True) * F.relu(x @ up[e])
    return out


def at_once(x, router, up, experts=EXPERTS):
    best = torch.topk(x @ router.T, CHOSEN, -1)
    gates = torch.zeros(x.shape[0], EXPERTS, dtype=x.dtype).scatter(-1, best.indices, best.values.softmax(-1))
    return torch.einsum("ne,ned->nd", gates[:, :experts], torch.einsum("nd,edf->nef", x, up[:experts]).clamp(min=0))


def all_but_one(x, router, up):
    return at_once(x, router, up, EXPERTS - 1)


def in_turn(x, router, up):
    """The second best has the share of the best."""
    best = torch.topk(x @ router.T, CHOSEN, -1)
    gates = torch.zeros(x.shape[0], EXPERTS, dtype=x.dtype).scatter(-1, best.indices, best.values.softmax(-1).flip(-1))
    return torch.einsum("ne,ned->nd", gates, torch.einsum("nd,edf->nef", x, up).clamp(min=0))


def inputs():
    torch.manual_seed(0)
    return torch.randn(3, 2), torch.randn(EXPERTS, 2), torch.randn(EXPERTS, 2, 2)


def test_a_write_at_what_topk_chose_meets_a_loop_over_experts():
    assert check(one_by_one, at_once, inputs).verdict == "same"


def test_other_experts_and_other_shares_differ():
    assert check(one_by_one, all_but_one, inputs).verdict == "different"
    assert check(one_by_one, in_turn, inputs).verdict == "different"


CAPACITY = 2


def dispatched(x, router, up, gate=lambda probabilities, mask: (probabilities * mask).sum(-1)):
    """GShard: what each expert has room for stands in its slots, by one-hot masks."""
    probabilities = F.softmax(x @ router.T, -1)
    mask = F.one_hot(probabilities.argmax(-1), EXPERTS)
    before = (mask.cumsum(0) - 1) * mask
    mask = mask * (before < CAPACITY)
    slot = F.one_hot((before * mask).sum(-1), CAPACITY).to(x.dtype)
    dispatch = mask.to(x.dtype)[:, :, None] * slot[:, None, :]
    buffer = torch.bmm(torch.einsum("tec,td->ecd", dispatch, x), up)
    return torch.einsum("tec,ecd->td", dispatch * gate(probabilities, mask)[:, None, None], buffer)


def served_in_turn(x, router, up, room=CAPACITY):
    """Each expert on all rows, for those among the first that chose it; the gate is the largest probability."""
    best = F.log_softmax(x @ router.T, -1).exp().max(-1)
    out = torch.zeros_like(x)
    for e in range(EXPERTS):
        mine = best.indices == e
        out = out + torch.where(mine & (mine.cumsum(0) <= room), best.values, 0.0)[:, None] * (x @ up[e])
    return out


def rows():
    torch.manual_seed(0)
    return torch.randn(7, 2), torch.randn(EXPERTS, 2), torch.randn(EXPERTS, 2, 2)


def test_slots_with_a_capacity_meet_a_loop_over_experts():
    found = check(dispatched, served_in_turn, rows)
    assert found.verdict == "same" and not found.only


def test_another_capacity_and_another_gate_differ():
    assert check(dispatched, lambda *given: served_in_turn(*given, room=3), rows).verdict == "different"
    smallest = check(lambda *given: dispatched(*given, gate=lambda p, _: p.amin(-1)), served_in_turn, rows)
    assert smallest.verdict == "different"
