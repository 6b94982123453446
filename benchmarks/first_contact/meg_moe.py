"""Megatron-core's MoE layer with experts over ranks, capacity and padding (drop and pad), by all-to-all."""
import torch
from torch import nn
from megatron.core.tensor_parallel import gather_from_tensor_model_parallel_region
from megatron.core.transformer.moe.moe_layer import MoELayer
from megatron.core.models.gpt.moe_module_specs import get_moe_module_spec
from megatron.core.transformer.spec_utils import build_module
from megatron_setup import config, groups

world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}


def moe(n):
    c = config(expert_model_parallel_size=n, num_moe_experts=4, moe_router_topk=2, moe_token_dispatcher_type="alltoall",
               moe_expert_capacity_factor=8.0, moe_pad_expert_input_to_capacity=True, moe_router_load_balancing_type="none",
               moe_grouped_gemm=False, add_bias_linear=False)
    torch.manual_seed(0)
    return build_module(get_moe_module_spec(use_te=False, num_experts=4, moe_grouped_gemm=False), config=c)


class Experts(nn.Module):
    """What it should compute: each token through its two best experts."""

    def __init__(self, state):
        super().__init__()
        self.router = nn.Parameter(state["router.weight"].clone())
        self.up = nn.ParameterList(state[f"experts.local_experts.{k}.linear_fc1.weight"].clone() for k in range(4))
        self.down = nn.ParameterList(state[f"experts.local_experts.{k}.linear_fc2.weight"].clone() for k in range(4))

    def forward(self, x):
        scores, chosen = (x @ self.router.t()).topk(2, -1)
        weights = scores.softmax(-1)
        out = torch.zeros_like(x)
        for k in range(4):
            share = (weights * (chosen == k)).sum(-1, keepdim=True)
            out = out + share * (nn.functional.gelu(x @ self.up[k].t()) @ self.down[k].t())
        return out


class Own(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


def state():
    generator = torch.Generator().manual_seed(3)
    found = {"router.weight": torch.randn(4, 16, generator=generator)}
    for k in range(4):
        found[f"experts.local_experts.{k}.linear_fc1.weight"] = torch.randn(32, 16, generator=generator)
        found[f"experts.local_experts.{k}.linear_fc2.weight"] = torch.randn(16, 32, generator=generator)
    return found


def sequential():
    return Experts(state())


def distributed(rank, world_size):
    groups(ep=world_size)
    own, whole = moe(world_size), state()
    with torch.no_grad():
        own.router.weight.copy_(whole["router.weight"])
        for k in range(2):
            for part in ("linear_fc1", "linear_fc2"):
                getattr(own.experts.local_experts[k], part).weight.copy_(whole[f"experts.local_experts.{2 * rank + k}.{part}.weight"])
    return Own(own)


def inputs():
    return (torch.randn(3, 4, 16),)
