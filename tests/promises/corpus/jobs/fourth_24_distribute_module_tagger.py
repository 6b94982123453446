"""distribute_module with a partition_fn of one's own, input_fn and output_fn; gradients of every weight."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor

TRUTH = "refines"
WHY = "table cut by columns, projection cut by its input features, and the partial product is summed by output_fn"

world_size = 2
backward = True


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.score = nn.Linear(8, 5, bias=False)

    def forward(self, tokens):
        return self.score(F.silu(self.table(tokens)))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.body = Body()

    def forward(self, tokens, tags):
        logits = self.body(tokens)
        return F.cross_entropy(logits.flatten(0, 1), tags.flatten())


def partition(name, module, mesh):
    if isinstance(module, (nn.Embedding, nn.Linear)):
        module.weight = nn.Parameter(distribute_tensor(module.weight.data, mesh, [Shard(1)]))


def take(module, inputs, mesh):
    return (DTensor.from_local(inputs[0], mesh, [Replicate()], run_check=False),)


def give(module, output, mesh):
    return output.redistribute(placements=[Replicate()]).to_local()


def sequential():
    return Tagger()


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    tagger = Tagger()
    distribute_module(tagger.body, mesh, partition, take, give)
    return tagger


def inputs():
    torch.manual_seed(4)
    return {"tokens": torch.randint(0, 11, (3, 4)), "tags": torch.randint(0, 5, (3, 4))}
