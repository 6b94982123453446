"""Transformers' GPT-2 under DistributedDataParallel, one step with a loss."""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from hf_tiny import gpt2

world_size = 2
backward = True
relations = {"input_ids": "shard(0)", "labels": "shard(0)"}
expected = {"0": "partial(avg)"}


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = gpt2()

    def forward(self, input_ids, labels):
        return self.model(input_ids=input_ids, labels=labels).loss


def sequential():
    return Step()


def distributed(rank, world_size):
    return DistributedDataParallel(Step())


def inputs():
    ids = torch.randint(0, 32, (4, 6))
    return {"input_ids": ids, "labels": ids}
