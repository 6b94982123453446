"""Two stages on two ranks: activations are sent forward and gradients back, one micro-batch after another. The ranks
run different programs."""

import torch
import torch.distributed as dist
from megatron_parts import generic
from torch import nn

world_size = 2
WIDTH, STEPS = 6, 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.second(self.first(x).tanh())


def sequential():
    model = generic(Model())

    def step(x, y):
        loss = ((model(x) - y) ** 2).sum()
        weights = dict(model.named_parameters())
        return {"loss": loss} | named(weights, torch.autograd.grad(loss, list(weights.values())))

    return step


def named(weights, grads):
    return {f"grad.{name}": grad for name, grad in zip(weights, grads, strict=True)}


def distributed(rank, world_size, fault=None):
    model = generic(Model())
    return first_stage(model.first, fault) if rank == 0 else second_stage(model.second, fault)


def first_stage(first, fault):
    def step(x, y):
        sent, weights = [], {f"first.{name}": weight for name, weight in first.named_parameters()}
        for part in x.chunk(STEPS):
            sent.append(first(part).tanh())
            dist.send(sent[-1].detach(), 1)
        grads = [torch.zeros_like(weight) for weight in weights.values()]
        for output in reversed(sent) if fault == "gradients_in_the_wrong_order" else sent:
            came = torch.empty_like(output)
            dist.recv(came, 1)
            for grad, more in zip(grads, torch.autograd.grad(output, list(weights.values()), came), strict=True):
                grad += more
        return named(weights, grads)

    return step


def second_stage(second, fault):
    def step(x, y):
        weights = {f"second.{name}": weight for name, weight in second.named_parameters()}
        grads, total = [torch.zeros_like(weight) for weight in weights.values()], torch.zeros(())
        back = []
        for part, wanted in zip(x.chunk(STEPS), y.chunk(STEPS), strict=True):
            came = torch.empty_like(part)
            dist.recv(came, 0)
            came.requires_grad_()
            loss = ((second(came) - wanted) ** 2).sum()
            total += loss.detach()
            *more, gradient = torch.autograd.grad(loss, [*weights.values(), came])
            back.append(gradient)
            for grad, new in zip(grads, more, strict=True):
                grad += new
        for gradient in back:
            dist.send(gradient, 0)
        return {"loss": total} | named(weights, grads)

    return step


def inputs():
    return torch.randn(4, WIDTH), torch.randn(4, WIDTH)


faults = ("gradients_in_the_wrong_order",)
