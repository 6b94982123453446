"""A training step by torch's 1F1B schedule: gradients of each stage's weights, and the loss."""
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from pt_pipe import Model, Part

world_size = 2


def loss_of(y, target):
    return ((y - target) ** 2).mean()


def sequential():
    model = Model()

    def step(x, target):
        model.zero_grad()
        loss_of(model(x), target).backward()
        return {f"grad.{name}": p.grad for name, p in model.named_parameters()}
    return step


def distributed(rank, world_size):
    part = Part(Model(), rank)
    stage = PipelineStage(part, rank, world_size, torch.device("cpu"), input_args=(torch.empty(2, 6),), output_args=(torch.empty(2, 6),))
    schedule = Schedule1F1B(stage, n_microbatches=2, loss_fn=loss_of)

    def step(x, target):
        part.zero_grad()
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=target)
        return {f"grad.{name}": p.grad for name, p in part.named_parameters()}
    return step


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6)
