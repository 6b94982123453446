"""Transformers' Llama under torch's fully_shard, one step with a loss."""
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from hf_tiny import llama

world_size = 2
mesh = {"dp": 2}
backward = True
relations = {"input_ids": "shard(0)", "labels": "shard(0)"}
expected = {"0": "partial(avg)"}


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = llama()

    def forward(self, input_ids, labels):
        return self.model(input_ids=input_ids, labels=labels).loss


def sequential():
    return Step()


def distributed(rank, world_size, mesh):
    step = Step()
    for layer in step.model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(step.model, mesh=mesh)
    return step


def inputs():
    ids = torch.randint(0, 32, (4, 6))
    return {"input_ids": ids, "labels": ids}
