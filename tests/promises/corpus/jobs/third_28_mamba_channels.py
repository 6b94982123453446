import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'Mamba block with its channels over two ranks: causal depthwise conv, selective scan, x_proj and out_proj all-reduced'
world_size = 2

D, INNER, STATE, RANK, K = 6, 8, 3, 2, 3


class Mamba(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_x = nn.Linear(D, INNER, bias=False)
        self.in_z = nn.Linear(D, INNER, bias=False)
        self.conv_w = nn.Parameter(torch.randn(INNER, 1, K) * 0.4)
        self.conv_b = nn.Parameter(torch.randn(INNER) * 0.1)
        self.x_proj = nn.Linear(INNER, RANK + 2 * STATE, bias=False)
        self.dt_proj = nn.Linear(RANK, INNER)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, STATE + 1).float()).repeat(INNER, 1) + 0.1 * torch.randn(INNER, STATE))
        self.skip = nn.Parameter(torch.randn(INNER))
        self.out_proj = nn.Linear(INNER, D, bias=False)

    def reduce(self, t):
        return t

    def forward(self, u):
        L = u.shape[1]
        x, z = self.in_x(u), self.in_z(u)
        x = F.conv1d(F.pad(x.transpose(1, 2), (K - 1, 0)), self.conv_w, self.conv_b, groups=x.shape[-1])
        x = F.silu(x).transpose(1, 2)
        dt, B, C = self.reduce(self.x_proj(x)).split([RANK, STATE, STATE], -1)
        dt = F.softplus(self.dt_proj(dt))
        A = -torch.exp(self.A_log)
        h = torch.zeros(x.shape[0], x.shape[2], STATE, dtype=x.dtype)
        ys = []
        for t in range(L):
            h = torch.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * x[:, t])[..., None] * B[:, t, None]
            ys.append((h * C[:, t, None]).sum(-1))
        y = torch.stack(ys, 1) + self.skip * x
        return self.reduce(self.out_proj(y * F.silu(z)))


class MambaTP(Mamba):
    def __init__(self, rank, world):
        super().__init__()
        piece = lambda p, dim=0: nn.Parameter(p.data.chunk(world, dim)[rank].contiguous())
        self.in_x.weight, self.in_z.weight = piece(self.in_x.weight), piece(self.in_z.weight)
        self.conv_w, self.conv_b = piece(self.conv_w), piece(self.conv_b)
        self.x_proj.weight = piece(self.x_proj.weight, 1)
        self.dt_proj.weight, self.dt_proj.bias = piece(self.dt_proj.weight), piece(self.dt_proj.bias)
        self.A_log, self.skip = piece(self.A_log), piece(self.skip)
        self.out_proj.weight = piece(self.out_proj.weight, 1)

    def reduce(self, t):
        t = t.contiguous()
        dist.all_reduce(t)
        return t


def sequential():
    torch.manual_seed(0)
    return Mamba()


def distributed(rank, world_size):
    torch.manual_seed(0)
    return MambaTP(rank, world_size)


def inputs():
    return (torch.randn(2, 4, D, generator=torch.Generator().manual_seed(1)),)
