import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)


class Mixer(nn.Module):
    def __init__(self, d_model=6, d_inner=8, d_state=3, dt_rank=2, d_conv=3):
        super().__init__()
        self.d_inner, self.d_state, self.dt_rank, self.d_conv = d_inner, d_state, dt_rank, d_conv
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=False)
        self.conv1d = nn.Conv1d(d_inner, d_inner, d_conv, groups=d_inner, padding=d_conv - 1)
        self.x_proj = nn.Linear(d_inner, dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(dt_rank, d_inner)
        self.A_log = nn.Parameter(torch.rand(d_inner, d_state))
        self.D = nn.Parameter(torch.randn(d_inner))
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)

    def ssm(self, x, dt, A, B, C):
        b, l, d = x.shape
        dA = torch.exp(torch.einsum("bld,dn->bldn", dt, A))
        dBx = torch.einsum("bld,bln,bld->bldn", dt, B, x)
        h = torch.zeros(b, d, self.d_state)
        ys = []
        for t in range(l):
            h = dA[:, t] * h + dBx[:, t]
            ys.append(torch.einsum("bdn,bn->bd", h, C[:, t]))
        return torch.stack(ys, dim=1) + x * self.D

    def forward(self, u):
        l = u.shape[1]
        x, z = self.in_proj(u).chunk(2, dim=-1)
        x = self.conv1d(x.transpose(1, 2))[..., :l].transpose(1, 2)
        x = F.silu(x)
        dt, B, C = self.x_proj(x).split([self.dt_rank, self.d_state, self.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        y = self.ssm(x, dt, -torch.exp(self.A_log), B, C)
        return self.out_proj(y * F.silu(z))


class QuadraticMixer(Mixer):
    def ssm(self, x, dt, A, B, C):
        l = x.shape[1]
        # log decay from step s to step t is sum_{s < r <= t} dt_r * A
        cum = torch.cumsum(dt, dim=1)[..., None] * A
        seg = cum[:, :, None] - cum[:, None, :]  # b t s d n
        causal = torch.ones(l, l, dtype=torch.bool).tril()
        decay = torch.exp(seg.masked_fill(~causal[None, :, :, None, None], float("-inf")))
        y = torch.einsum("btsdn,bsd,bsn,btn->btd", decay, dt * x, B, C)
        return y + self.D * x


left = Mixer()
right = QuadraticMixer()
right.load_state_dict(copy.deepcopy(left.state_dict()))
inputs = (torch.randn(2, 5, 6),)
