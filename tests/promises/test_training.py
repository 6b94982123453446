"""Training steps: what a step leaves in weights, gradients and the optimizer is compared, over two steps.

The same step by torch's optimizers and by hand, under the same names and under others; and mistakes that a first step,
or its loss, does not show.
"""

import pytest
import torch
from torch import nn, optim
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung
from samesame.report import headline

TWO = "for the first two calls"
ASIDE = "what they leave in weights aside"


def rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


INPUTS = (rows(4, 5), rows(4, 3, seed=1))


def layer():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Linear(5, 3)


class Renamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = layer()

    def forward(self, x):
        return self.inner(x)


class Step:
    """A step of `make(parameters)`, one of torch's optimizers."""

    def __init__(self, make, reset=True, late=False, most=0.0):
        self.model = layer()
        self.optimizer = make(self.model.parameters())
        self.reset, self.late, self.most = reset, late, most

    def __call__(self, x, y):
        if self.reset and not self.late:
            self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        if self.most:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.most)
        self.optimizer.step()
        if self.late:
            self.optimizer.zero_grad()
        return loss.detach()


class Scheduled(Step):
    def __init__(self, make, gamma):
        super().__init__(make)
        self.scheduler = optim.lr_scheduler.StepLR(self.optimizer, 1, gamma)

    def __call__(self, *batch):
        loss = super().__call__(*batch)
        self.scheduler.step()
        return loss


class ByHand:
    """SGD with momentum; `keeps` what it should from step to step."""

    def __init__(self, make=layer, keeps=True, updates=True, replaces=False):
        self.model = make()
        self.velocities = [None, None]
        self.keeps, self.updates, self.replaces = keeps, updates, replaces

    def __call__(self, x, y):
        for weight in self.model.parameters():
            weight.grad = None
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        for k, weight in enumerate(self.model.parameters()):
            last, grad = self.velocities[k], weight.grad.detach()
            self.velocities[k] = grad.clone() if last is None or not self.keeps else 0.9 * last + grad
            if self.replaces:
                weight.data = weight.data - 0.1 * self.velocities[k]
            elif self.updates:
                weight.data -= 0.1 * self.velocities[k]
        return loss.detach()


def sgd(momentum=0.9, **options):
    return lambda weights: optim.SGD(weights, lr=0.1, momentum=momentum, **options)


def adamw(**options):
    return lambda weights: optim.AdamW(weights, lr=0.01, betas=(0.9, 0.99), **options)


def silent(step):
    """The step that returns nothing."""

    def run(x, y):
        step(x, y)

    return run


SAME = {
    "momentum by hand": lambda: (Step(sgd()), ByHand()),
    "weights given other memory": lambda: (Step(sgd()), ByHand(replaces=True)),
    "over lists": lambda: (Step(adamw(foreach=False)), Step(adamw(foreach=True))),
    "fused": lambda: (Step(adamw(foreach=False)), Step(adamw(fused=True))),
    "returning nothing": lambda: (silent(Step(sgd())), silent(ByHand())),
    "other names": lambda: (Step(sgd()), ByHand(Renamed)),
}
DIFFERENT = {
    "momentum that is forgotten": lambda: (Step(sgd()), ByHand(keeps=False)),
    "momentum that is forgotten, other names": lambda: (Step(sgd()), ByHand(Renamed, keeps=False)),
    "no update, other names": lambda: (Step(sgd()), ByHand(Renamed, updates=False)),
    "gradients not reset": lambda: (Step(sgd()), Step(sgd(), reset=False)),
    "clipped": lambda: (Step(sgd()), Step(sgd(), most=0.1)),
    "momentum, returning nothing": lambda: (silent(Step(sgd())), silent(Step(sgd(0.8)))),
    "a rate that changes": lambda: (Scheduled(sgd(), 0.5), Step(sgd())),
}


LONG = ("over lists", "returning nothing", "weights given other memory", "clipped", "no update, other names",
        "momentum, returning nothing", "a rate that changes")


def named(cases):
    return [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in cases]


@pytest.mark.parametrize("name", named(SAME))
def test_same_steps(name):
    verdict = check(*SAME[name](), INPUTS)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert verdict.scope == TWO
    assert any("weight after the second call" in root.name for root in verdict.roots)


@pytest.mark.parametrize("name", named(DIFFERENT))
def test_different_steps(name):
    assert check(*DIFFERENT[name](), INPUTS).verdict == "different"


def test_gradients_that_one_side_keeps_and_the_other_clears_are_set_aside_in_the_headline():
    verdict = check(Step(sgd()), Step(sgd(), late=True), INPUTS)
    assert verdict.verdict == "same"
    assert f"{TWO}, {ASIDE}" in str(headline(verdict))


def test_a_step_leaves_its_programs_as_they_were():
    step, kept = Step(adamw()), layer()
    step.model.weight.grad = before = rows(3, 5, seed=2)
    check(step, Step(adamw(foreach=True)), INPUTS)
    assert torch.equal(step.model.weight, kept.weight) and step.model.weight.grad is before
    assert torch.equal(before, rows(3, 5, seed=2))
    assert not step.optimizer.state and step.model.bias.grad is None


def test_gradients_left_at_an_argument_are_seen():
    def marks(x, y):
        x.requires_grad_()
        (x.sin() * y.sum()).sum().backward()
        return x.grad

    def leaves_alone(x, y):
        return x.cos() * y.sum()

    verdict = check(marks, leaves_alone, (rows(4, 5), rows(4, 3)))
    assert verdict.verdict == "different"
    assert any("x.grad after the call" in difference.text for difference in verdict.differences)


def test_an_input_that_wants_a_gradient_is_given_so():
    def slope(x):
        return torch.autograd.grad(x.sin().sum(), x)[0]

    example = (rows(4, 5).requires_grad_(),)
    assert check(slope, torch.cos, example).verdict == "same"
    assert check(slope, torch.sin, example).verdict == "different"


def test_a_hook_on_a_gradient_counts():
    def doubled(x):
        leaf = x.detach().requires_grad_()
        y = leaf.sin()
        y.register_hook(lambda grad: 2 * grad)
        y.sum().backward()
        return leaf.grad

    assert check(doubled, lambda x: 2 * x.cos(), (rows(4, 5),)).verdict == "same"
    assert check(doubled, lambda x: x.cos(), (rows(4, 5),)).verdict == "different"


def test_a_gradient_that_is_right_on_the_example_only_is_not_the_same():
    """The slope of |x| where x is positive."""

    def slope(x):
        leaf = x.detach().requires_grad_()
        leaf.abs().sum().backward()
        return leaf.grad

    assert check(slope, torch.ones_like, (rows(4, 5).abs() + 0.1,)).verdict != "same"


def test_a_batch_norm_in_training_mode_is_differentiated():
    norm = nn.BatchNorm1d(5)

    def slopes(x):
        leaf = x.detach().requires_grad_()
        norm(leaf).pow(3).sum().backward()
        return leaf.grad

    def written_out(x):
        leaf = x.detach().requires_grad_()
        normal = (leaf - leaf.mean(0)) / torch.sqrt(leaf.var(0, correction=0) + 1e-5)
        (normal * norm.weight + norm.bias).pow(3).sum().backward()
        return leaf.grad

    example = (rows(4, 5),)
    assert check(slopes, written_out, example, ignore=("state",)).verdict == "same"
    assert check(slopes, written_out, example).verdict == "different", "one moves the running statistics"


class Listed:
    """SGD of weights that stand in a list of this name."""

    def __init__(self, name="weights", keeps=True):
        model = layer()
        setattr(self, name, [model.weight.detach().requires_grad_(), model.bias.detach().requires_grad_()])
        self.name, self.keeps, self.velocities = name, keeps, [0.0, 0.0]

    def __call__(self, x, y):
        weights = getattr(self, self.name)
        grads = torch.autograd.grad(F.mse_loss(F.linear(x, *weights), y), weights)
        with torch.no_grad():
            for k, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
                self.velocities[k] = 0.9 * self.velocities[k] * self.keeps + grad
                weight -= 0.1 * self.velocities[k]


def test_weights_in_lists_pair_by_their_numbers():
    verdict = check(Listed(), Listed("others"), INPUTS)
    assert verdict.verdict == "same" and verdict.scope == TWO
    assert check(Listed(), Listed("others", keeps=False), INPUTS).verdict == "different"


def test_a_step_that_is_taken_only_with_gradients_on_is_taken():
    class Careful(Step):
        def __call__(self, x, y):
            loss = F.mse_loss(self.model(x), y)
            if torch.is_grad_enabled():
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            return loss.detach()

    assert check(Careful(sgd()), Careful(sgd(0.8)), INPUTS).verdict == "different"


def test_a_weight_that_is_frozen_after_the_first_step_is_seen():
    class Freezing(Step):
        def __call__(self, x, y):
            loss = super().__call__(x, y)
            self.model.weight.requires_grad_(False)
            return loss

    assert check(Step(sgd(0.0)), Freezing(sgd(0.0)), INPUTS).verdict == "different"


def test_sizes_are_followed_through_both_calls():
    class Deciding(Step):
        """Twice the loss in the second step, beyond a batch of `most`."""

        def __init__(self, most):
            super().__init__(sgd())
            self.steps, self.limit = 0, most

        def __call__(self, x, y):
            self.steps += 1
            loss = super().__call__(x, y)
            return loss * 2 if self.steps == 2 and x.shape[0] > self.limit else loss

    verdict = check(Step(sgd()), ByHand(), INPUTS)
    assert verdict.evidence is Rung.PROVED and verdict.covers({"x": (64, 5), "y": (64, 3)})
    parting = check(Deciding(6), Deciding(60), INPUTS)
    assert parting.verdict == "different" and parting.sizes.apart
