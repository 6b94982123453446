"""A whole transformer layer of Megatron-core (local spec): one rank against two."""
import torch
from torch import nn
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.transformer.spec_utils import build_module
from megatron.core.tensor_parallel.random import initialize_rng_tracker
from megatron_setup import config, groups

world_size = 2
backward = True
LAST = {"linear_proj.weight", "linear_fc2.weight"}


def layer(n):
    initialize_rng_tracker(inference_rng_tracker=True, force_reset=True)
    torch.manual_seed(0)
    return build_module(get_gpt_layer_local_spec(), config=config(tensor_model_parallel_size=n), layer_number=1)


class Layer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        s = x.shape[0]
        mask = torch.triu(torch.ones(1, 1, s, s, dtype=torch.bool), 1)
        return self.inner(x, attention_mask=mask)[0]


def whole():
    groups(tp=1)
    return Layer(layer(1))


def sequential():
    return whole()


def distributed(rank, world_size):
    groups(tp=1)
    one = layer(1)
    groups(tp=world_size)
    own = layer(world_size)
    state = one.state_dict()
    with torch.no_grad():
        for name, weight in own.named_parameters():
            full = state[name]
            for d in range(full.dim()):
                if full.shape[d] != weight.shape[d]:
                    full = full.chunk(world_size, d)[rank]
            weight.copy_(full)
    return Layer(own)


def inputs():
    return (torch.randn(5, 2, 16),)
