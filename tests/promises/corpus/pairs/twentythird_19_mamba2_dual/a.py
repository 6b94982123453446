"""A Mamba-2 mixer as it decodes: causal convolution, then a state for each head that decays and is written to step by step."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, HEADS, SIZE, STATE, TAPS = 6, 2, 4, 3, 4
INNER = HEADS * SIZE
CONV = INNER + 2 * STATE


class Mamba2(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(DIM, INNER + CONV + HEADS, bias=False)
        self.conv1d = nn.Conv1d(CONV, CONV, TAPS, groups=CONV, padding=TAPS - 1)
        self.dt_bias = nn.Parameter(torch.randn(HEADS))
        self.A_log = nn.Parameter(torch.randn(HEADS))
        self.D = nn.Parameter(torch.randn(HEADS))
        self.norm = nn.RMSNorm(INNER, eps=1e-5)
        self.out_proj = nn.Linear(INNER, DIM, bias=False)
        nn.init.normal_(self.norm.weight)

    def forward(self, u):
        batch, time, _ = u.shape
        z, xbc, dt = self.in_proj(u).split([INNER, CONV, HEADS], dim=-1)
        xbc = F.silu(self.conv1d(xbc.transpose(1, 2))[..., :time].transpose(1, 2))
        x, b, c = xbc.split([INNER, STATE, STATE], dim=-1)
        x = x.view(batch, time, HEADS, SIZE)
        dt = F.softplus(dt + self.dt_bias)
        decay = torch.exp(-dt * torch.exp(self.A_log))
        state = u.new_zeros(batch, HEADS, SIZE, STATE)
        outputs = []
        for t in range(time):
            write = (dt[:, t, :, None] * x[:, t])[..., None] * b[:, t, None, None, :]
            state = state * decay[:, t, :, None, None] + write
            outputs.append((state * c[:, t, None, None, :]).sum(-1))
        y = torch.stack(outputs, dim=1) + self.D[:, None] * x
        return self.out_proj(self.norm(y.flatten(2) * F.silu(z)))


def inputs():
    return (torch.randn(2, 5, DIM),)
