"""AlphaFold's triangle updates (outgoing, incoming) and transition with rows of the pair representation on the ranks, as FastFold's dynamic axial parallelism cuts them; functional collectives."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import nn

C, HIDDEN, N = 6, 4, 8


class TriangleMultiplication(nn.Module):
    def __init__(self, outgoing):
        super().__init__()
        self.outgoing = outgoing
        self.norm_in, self.norm_out = nn.LayerNorm(C), nn.LayerNorm(HIDDEN)
        self.proj = nn.Linear(C, 2 * HIDDEN)
        self.gate = nn.Linear(C, 2 * HIDDEN)
        self.out = nn.Linear(HIDDEN, C)
        self.out_gate = nn.Linear(C, C)

    def combine(self, a, b):
        return torch.einsum("ikc,jkc->ijc", a, b) if self.outgoing else torch.einsum("kic,kjc->ijc", a, b)

    def forward(self, z, mask):
        z = self.norm_in(z)
        ab = self.proj(z) * torch.sigmoid(self.gate(z)) * mask.unsqueeze(-1)
        a, b = ab.chunk(2, dim=-1)
        return self.out(self.norm_out(self.combine(a, b))) * torch.sigmoid(self.out_gate(z))


class TriangleMultiplicationRows(TriangleMultiplication):
    """Rows i of z are here. Outgoing edges need all rows of b; incoming ones sum over rows, so each rank has a part of the sum."""

    def combine(self, a, b):
        group = dist.group.WORLD
        if self.outgoing:
            b = funcol.all_gather_tensor(b.contiguous(), gather_dim=0, group=group)
            return torch.einsum("ikc,jkc->ijc", a, b)
        part = torch.einsum("kic,kjc->ijc", a, b)
        return funcol.reduce_scatter_tensor(part, "sum", scatter_dim=0, group=group)


class PairStack(nn.Module):
    def __init__(self, triangle):
        super().__init__()
        self.tri_out, self.tri_in = triangle(True), triangle(False)
        self.transition = nn.Sequential(nn.LayerNorm(C), nn.Linear(C, 2 * C), nn.ReLU(), nn.Linear(2 * C, C))

    def forward(self, z, mask):
        z = z + self.tri_out(z, mask)
        z = z + self.tri_in(z, mask)
        return z + self.transition(z)


def sequential():
    return PairStack(TriangleMultiplication)


def distributed(rank, world_size):
    return PairStack(TriangleMultiplicationRows)


def inputs():
    residues = torch.ones(N)
    residues[-2:] = 0
    return torch.randn(N, N, C), residues[:, None] * residues[None, :]


world_size = 4
relations = {"z": "shard(0)", "mask": "shard(0)"}
expected = {"0": "shard(0)"}

TRUTH = "refines"
