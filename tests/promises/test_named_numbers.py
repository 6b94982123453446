"""Numbers that a program tells from others are tried although the example has none of them."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.report import headline

torch.manual_seed(0)
SCORES, LABELS = torch.randn(6, 7), torch.randint(0, 7, (6,))
FEW = (torch.randn(4, 5), torch.randint(1, 5, (4,)))


def loss(logits, labels):
    return F.cross_entropy(logits, labels)


def over_all(logits, labels):
    kept = labels.ne(-100)
    chosen = torch.log_softmax(logits, -1)[torch.arange(len(labels)), labels.masked_fill(~kept, 0)]
    return -(chosen * kept).mean()


def over_kept(logits, labels):
    kept = labels.ne(-100)
    chosen = torch.log_softmax(logits, -1)[torch.arange(len(labels)), labels.masked_fill(~kept, 0)]
    return -(chosen * kept).sum() / kept.sum()


def looked_up(logits, labels):
    return -torch.log_softmax(logits, -1).gather(1, labels[:, None]).mean()


def summed(logits, labels):
    return F.cross_entropy(logits, labels, reduction="sum")


def one_hot(logits, labels):
    hot = (labels[:, None] == torch.arange(7)).float()
    return (torch.logsumexp(logits, -1) - (hot * logits).sum(-1)).sum()


def test_a_number_that_a_program_asks_for_itself_tells_the_two_apart():
    verdict = check(loss, over_all, (SCORES, LABELS))
    assert verdict.verdict == "different"
    assert any("They part on the example with -100 in labels" in note for note in verdict.notes)
    assert check(loss, over_kept, (SCORES, LABELS)).verdict != "different"


def test_what_only_a_loss_ignores_is_a_condition_in_the_headline():
    verdict = check(summed, one_hot, (SCORES, LABELS))
    assert verdict.verdict == "same" and "if no element of labels is -100" in headline(verdict).plain
    told = {str(condition) for relation in verdict.relations for condition in relation.evidence.conditions}
    assert any(condition.startswith("labels are classes") for condition in told)


def with_gradient(loss):
    def program(x, labels, w):
        w = w.detach().requires_grad_()
        with torch.enable_grad():
            found = loss(x @ w, labels)
            return found, torch.autograd.grad(found, [w])[0]

    return program


def test_the_gradient_of_a_loss_asks_for_no_number_that_the_loss_does_not():
    inputs = torch.randn(6, 3), LABELS, torch.randn(3, 7)
    mean, by_all = with_gradient(loss), with_gradient(lambda x, labels: summed(x, labels) / labels.numel())
    verdict = check(mean, by_all, inputs)
    assert verdict.verdict == "same" and "if no element of labels is -100" in headline(verdict).plain
    assert check(mean, with_gradient(over_all), inputs).verdict == "different"
    assert check(mean, with_gradient(lambda x, labels: summed(x, labels) / 7), inputs).verdict == "different"


def test_a_number_with_which_one_side_fails_is_in_no_domain():
    verdict = check(loss, looked_up, (SCORES, LABELS))
    assert verdict.verdict == "same" and "if no" not in headline(verdict).plain


def test_pads_and_small_integers():
    """A number that does not fit, one that the example has, and one that is compared as a tensor."""
    def padded(x, ids):
        return x * (ids != torch.tensor(0))[:, None]

    assert check(padded, lambda x, ids: x + 0 * ids[:, None], FEW).verdict == "different"
    assert check(padded, lambda x, ids: torch.where((ids == 0)[:, None], 0.0, x), FEW).verdict == "same"
    short = FEW[0], FEW[1].to(torch.uint8)
    assert check(lambda x, i: x * (i != 300)[:, None], lambda x, i: x + 0 * i[:, None], short).verdict != "different"


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_integers_of_every_width_are_drawn(dtype):
    def kept(x, ids):
        return x * (ids != 7)[:, None]

    inputs = torch.randn(4, 5), torch.tensor([1, 2, 3, 4], dtype=dtype)
    assert check(kept, lambda x, ids: x + 0 * ids[:, None], inputs).verdict == "different"
    assert check(kept, lambda x, ids: torch.where((ids == 7)[:, None], 0.0, x), inputs).verdict == "same"


def test_masks_compared_with_truth_values():
    inputs = torch.randn(4, 5), torch.rand(4, 5) > 0.5
    assert check(lambda x, m: x * (m == 1), lambda x, m: torch.where(m == True, x, 0 * x), inputs).verdict == "same"  # noqa: E712
