"""Mahalanobis distances of the rows of a matrix, rows as a DTensor; the moments are reduced by it."""
import torch
from torch import nn
from torch.distributed.tensor import DTensor, Replicate, Shard


class Mahalanobis(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(5, 3)

    def forward(self, x):
        z = self.embed(x)
        z = z - z.mean(dim=0)
        covariance = z.t() @ z / (z.shape[0] - 1) + 0.1 * torch.eye(3)
        factor = torch.linalg.cholesky(covariance)
        return torch.linalg.solve_triangular(factor, z.t(), upper=False).square().sum(dim=0)


class RowsOfMahalanobis(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        self.embed = nn.Linear(5, 3)
        self.mesh = mesh

    def forward(self, x):
        z = DTensor.from_local(self.embed(x), self.mesh, [Shard(0)])
        mean = z.mean(dim=0).redistribute(self.mesh, [Replicate()])
        z = z - mean
        gram = (z.t() @ z).full_tensor()
        covariance = gram / (z.shape[0] - 1) + 0.1 * torch.eye(3)
        factor = torch.linalg.cholesky(covariance)
        return torch.linalg.solve_triangular(factor, z.to_local().t(), upper=False).square().sum(dim=0)


def sequential():
    return Mahalanobis()


def distributed(rank, world_size, mesh):
    return RowsOfMahalanobis(mesh)


def inputs():
    return torch.randn(10, 5)


mesh = {"dp": 2}
world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "refines"
