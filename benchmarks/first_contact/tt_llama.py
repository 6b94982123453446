"""torchtitan's Llama 3 under its tensor-parallel plan."""
import torch
from torch import nn
from torchtitan.config import ParallelismConfig
from torchtitan.distributed import ParallelDims
from torchtitan.models.llama3 import llama3_configs

world_size = 2


def config():
    return llama3_configs["debugmodel"](attn_backend="sdpa")


def sequential():
    torch.manual_seed(0)
    model = config().build()
    model.init_weights()
    return model


def distributed(rank, world_size):
    torch.manual_seed(0)
    dims = ParallelDims(dp_replicate=1, dp_shard=1, cp=1, tp=world_size, pp=1, ep=1, world_size=world_size)
    model = config().build()
    model.init_weights()
    model.parallelize(dims)
    return model


def inputs():
    return (torch.randint(0, 100, (2, 6)),)
