# EQUAL: Mamba block: sequential selective scan with depthwise causal conv vs quadratic (attention-like) form with cumulative sums of dt
import torch
from torch import nn
import torch.nn.functional as F

D, DI, N, R, KC = 6, 8, 3, 2, 3


class Mamba(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(D, 2 * DI, bias=False)
        self.conv1d = nn.Conv1d(DI, DI, KC, groups=DI, padding=KC - 1)
        self.x_proj = nn.Linear(DI, R + 2 * N, bias=False)
        self.dt_proj = nn.Linear(R, DI)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, N + 1).to(self.dt_proj.weight.dtype).repeat(DI, 1)) + 0.1 * torch.randn(DI, N))
        self.D = nn.Parameter(torch.rand(DI))
        self.out_proj = nn.Linear(DI, D, bias=False)

    def forward(self, u):
        b, t, _ = u.shape
        x, z = self.in_proj(u).chunk(2, -1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[..., :t]).transpose(1, 2)
        dt, B, C = self.x_proj(x).split([R, N, N], -1)
        dt = F.softplus(self.dt_proj(dt))
        y = self.scan(x, dt, -torch.exp(self.A_log), B, C)
        y = y + x * self.D
        return self.out_proj(y * F.silu(z))

    def scan(self, x, dt, A, B, C):
        state = x.new_zeros(x.shape[0], DI, N)
        ys = []
        for i in range(x.shape[1]):
            dA = torch.exp(dt[:, i, :, None] * A)
            dBx = dt[:, i, :, None] * B[:, i, None, :] * x[:, i, :, None]
            state = dA * state + dBx
            ys.append((state * C[:, i, None, :]).sum(-1))
        return torch.stack(ys, 1)


class Quadratic(Mamba):
    def scan(self, x, dt, A, B, C):
        t = x.shape[1]
        s = dt.cumsum(1)
        seg = s[:, :, None] - s[:, None]  # b i j d
        decay = torch.exp(seg[..., None] * A)
        decay = decay * torch.ones(t, t, dtype=x.dtype).tril()[None, :, :, None, None]
        return torch.einsum("bin,bijdn,bjn,bjd->bid", C, decay, B, dt * x)


left = Mamba()
right = Quadratic()
right.load_state_dict(left.state_dict())


def inputs():
    return (torch.randn(2, 5, D),)
