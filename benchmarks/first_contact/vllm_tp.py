"""vLLM's tensor-parallel layers: fused qkv, gate and up, row-parallel outputs, vocabulary-parallel embedding."""
import torch
from torch import nn
from torch.nn.functional import silu
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed import parallel_state
from vllm.model_executor.layers.linear import MergedColumnParallelLinear, RowParallelLinear
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding

world_size = 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(128, 16)
        self.gate, self.up, self.down = nn.Linear(16, 24, bias=False), nn.Linear(16, 24, bias=False), nn.Linear(24, 16, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        return x + self.down(silu(self.gate(x)) * self.up(x))


class Parallel(nn.Module):
    def __init__(self, whole):
        super().__init__()
        self.embed = VocabParallelEmbedding(128, 16, params_dtype=torch.float32)
        self.gate_up = MergedColumnParallelLinear(16, [24, 24], bias=False, params_dtype=torch.float32)
        self.down = RowParallelLinear(24, 16, bias=False, params_dtype=torch.float32)
        for own, weight, part in ((self.embed, whole.embed, ()), (self.gate_up, whole.gate, (0,)), (self.gate_up, whole.up, (1,)), (self.down, whole.down, ())):
            own.weight.weight_loader(own.weight, weight.weight.data, *part)

    def forward(self, ids):
        x = self.embed(ids)
        gate, up = self.gate_up(x)[0].chunk(2, -1)
        return x + self.down(silu(gate) * up)[0]


def sequential():
    return Model()


def distributed(rank, world_size):
    with set_current_vllm_config(VllmConfig()):
        parallel_state.init_distributed_environment(world_size, rank, local_rank=rank, backend="gloo")
        parallel_state.initialize_model_parallel(world_size)
        return Parallel(Model())


def inputs():
    return (torch.randint(0, 128, (2, 5)),)
