"""A pipeline of as many stages as there are ranks. They return different things: the last one the loss, and each the
gradients of its own weights. Activations go forward and gradients back, one micro-batch after the other; all go forward
before the first goes back."""

import torch
import torch.distributed as dist
from megatron_parts import generic
from torch import nn

world_size = 4
LAYERS, WIDTH, STEPS = 4, 6, 3


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(self.up(x).tanh())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def sequential():
    model = generic(Model())

    def step(x, y):
        loss = ((model(x) - y) ** 2).mean()
        weights = dict(model.named_parameters())
        grads = torch.autograd.grad(loss, list(weights.values()))
        return {"loss": loss} | {f"grad.{name}": grad for name, grad in zip(weights, grads, strict=True)}

    return step


class Stage(nn.Module):
    """Some layers of the model, and what it says to its neighbours."""

    def __init__(self, rank, world_size, fault):
        super().__init__()
        own, place = LAYERS // world_size, rank
        if fault == "stages_swapped" and rank < 2:
            place = 1 - rank
        layers = generic(Model()).layers
        self.layers = nn.ModuleDict({str(k): layers[k] for k in range(place * own, (place + 1) * own)})
        self.rank, self.last, self.fault = rank, rank == world_size - 1, fault

    def step(self, x, y):
        weights = dict(self.named_parameters())
        grads = [torch.zeros_like(weight) for weight in weights.values()]
        done = [self.there(part) for part in x.chunk(STEPS)]
        outputs, losses = [out for _, out in done], []
        if self.last:
            outputs = losses = [self.loss(out, wanted) for out, wanted in zip(outputs, y.chunk(STEPS), strict=True)]
        for (came, _), out in zip(done, outputs, strict=True):
            more = self.back(came, out, list(weights.values()))
            if self.fault == "last_micro_batch_only":
                grads = list(more)
            else:
                grads = [grad + new for grad, new in zip(grads, more, strict=True)]
        found = {f"grad.{name}": grad for name, grad in zip(weights, grads, strict=True)}
        return found | ({"loss": sum(losses).detach()} if self.last else {})

    def loss(self, out, wanted):
        """The share of one micro-batch in the mean over all."""
        loss = ((out - wanted) ** 2).mean()
        return loss if self.fault == "not_divided_by_micro_batches" else loss / STEPS

    def there(self, part):
        """The input of this stage, of which a gradient is wanted, and its output."""
        x = part
        if self.rank:
            x = torch.empty_like(part)
            dist.recv(x, self.rank - 1)
            x.requires_grad_()
        y = x
        for layer in self.layers.values():
            y = layer(y)
        if not self.last:
            dist.send(y.detach(), self.rank + 1)
        return x, y

    def back(self, x, y, weights):
        """The gradients of this stage's weights; that of its input goes to the stage before."""
        came = None
        if not self.last:
            came = torch.empty_like(y)
            dist.recv(came, self.rank + 1)
        if self.rank:
            *grads, gradient = torch.autograd.grad(y, [*weights, x], came)
            dist.send(gradient, self.rank - 1)
            return grads
        return torch.autograd.grad(y, weights, came)


def distributed(rank, world_size, fault=None):
    return Stage(rank, world_size, fault).step


def inputs():
    return torch.randn(6, WIDTH), torch.randn(6, WIDTH)


faults = ("stages_swapped", "last_micro_batch_only", "not_divided_by_micro_batches")
