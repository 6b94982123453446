import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(32)
D, H, DK, DV = 12, 2, 4, 6


class GLABase(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * DK, bias=False)
        self.k_proj = nn.Linear(D, H * DK, bias=False)
        self.v_proj = nn.Linear(D, H * DV, bias=False)
        self.g_proj = nn.Linear(D, H * DV, bias=False)
        self.gk_proj = nn.Sequential(nn.Linear(D, 3, bias=False), nn.Linear(3, H * DK))
        self.g_norm = nn.Parameter(1 + 0.1 * torch.randn(DV))
        self.o_proj = nn.Linear(H * DV, D, bias=False)

    def finish(self, o, x):
        o = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + 1e-5) * self.g_norm
        return self.o_proj(o.flatten(-2) * F.silu(self.g_proj(x)))


class GLARecurrent(GLABase):
    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, H, DK) * DK ** -0.5
        k = self.k_proj(x).view(b, t, H, DK)
        v = self.v_proj(x).view(b, t, H, DV)
        gk = F.logsigmoid(self.gk_proj(x)).view(b, t, H, DK) / 16
        S = x.new_zeros(b, H, DK, DV)
        o = torch.empty_like(v)
        for i in range(t):
            S = S * gk[:, i].exp().unsqueeze(-1) + k[:, i].unsqueeze(-1) * v[:, i].unsqueeze(-2)
            o[:, i] = (q[:, i].unsqueeze(-1) * S).sum(-2)
        return self.finish(o, x)


class GLAParallel(GLABase):
    def forward(self, x):
        split = lambda y, d: y.unflatten(-1, (H, d)).transpose(1, 2)
        q, k, v = split(self.q_proj(x), DK), split(self.k_proj(x), DK), split(self.v_proj(x), DV)
        B = split(-F.softplus(-self.gk_proj(x)), DK).div(16).cumsum(dim=2)
        A = (q * B.exp()) @ (k * (-B).exp()).transpose(-1, -2) / DK ** 0.5
        return self.finish((A.tril() @ v).transpose(1, 2), x)


left, right = GLARecurrent(), GLAParallel()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 6, D),)
