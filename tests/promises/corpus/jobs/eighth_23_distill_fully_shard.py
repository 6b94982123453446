"""Distilling a small classifier from a frozen teacher (soft targets, hidden states matched through a projection); the student is
sharded by fully_shard, the teacher is whole on every rank."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

TEMPERATURE, ALPHA, BETA = 2.0, 0.7, 0.1


class Encoder(nn.Module):
    def __init__(self, dim, layers, classes=5):
        super().__init__()
        self.embed = nn.Linear(6, dim)
        self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.SiLU()) for _ in range(layers))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        h = self.embed(x)
        for layer in self.layers:
            h = h + layer(h)
        return self.head(h), h


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 2)
        self.project = nn.Linear(8, 12, bias=False)

    def forward(self, x):
        logits, hidden = self.encoder(x)
        return logits, self.project(hidden)


class Distill(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = Encoder(12, 3).requires_grad_(False)
        self.student = Student()

    def forward(self, x, labels):
        with torch.no_grad():
            soft, target = self.teacher(x)
        logits, hidden = self.student(x)
        kl = F.kl_div(
            F.log_softmax(logits / TEMPERATURE, -1),
            F.log_softmax(soft / TEMPERATURE, -1),
            reduction="batchmean",
            log_target=True,
        ) * TEMPERATURE**2
        hard = F.cross_entropy(logits, labels)
        return ALPHA * kl + (1 - ALPHA) * hard + BETA * F.mse_loss(hidden, target)


def sequential():
    return Distill()


def distributed(rank, world_size):
    model = Distill()
    mesh = init_device_mesh("cpu", (world_size,))
    for layer in model.student.encoder.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model.student, mesh=mesh, reshard_after_forward=False)
    return model


def inputs():
    return torch.randn(8, 6), torch.randint(0, 5, (8,))


world_size = 2
relations = {"x": "shard(0)", "labels": "shard(0)"}
expected = {"0": "partial(avg)"}
backward = True

TRUTH = "refines"
