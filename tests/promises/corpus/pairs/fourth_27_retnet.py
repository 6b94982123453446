# EQUAL
"""RetNet's retention: the parallel form for training and the recurrent form for generation."""
import torch
import torch.nn as nn

torch.manual_seed(27)


class Retention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads, self.key_dim = heads, dim // heads
        self.scaling = self.key_dim ** -0.5
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.g_proj = nn.Linear(dim, dim, bias=False)
        self.out_proj = nn.Linear(dim, dim, bias=False)
        self.group_norm = nn.GroupNorm(heads, dim, eps=1e-6, affine=False)
        self.gammas = [1 - 2.0 ** (-5 - i) for i in range(heads)]

    def heads_of(self, x):
        return x.unflatten(-1, (self.heads, self.key_dim)).transpose(1, 2)

    def finish(self, x, y):
        b, t, d = x.shape
        y = self.group_norm(y.transpose(1, 2).reshape(b * t, d)).view(b, t, d)
        return self.out_proj(nn.functional.silu(self.g_proj(x)) * y)


class Parallel(Retention):
    def forward(self, x):
        q, k, v = (self.heads_of(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        n = torch.arange(x.shape[1])
        dist = n[:, None] - n[None, :]
        gamma = torch.tensor(self.gammas).view(-1, 1, 1)
        decay = torch.where(dist >= 0, gamma ** dist.clamp(min=0), torch.zeros(()))
        s = q @ (k * self.scaling).transpose(-1, -2) * decay
        return self.finish(x, s @ v)


class Recurrent(Retention):
    def forward(self, x):
        b, t, _ = x.shape
        gamma = torch.tensor(self.gammas).view(1, -1, 1, 1)
        state = torch.zeros(b, self.heads, self.key_dim, self.key_dim)
        out = []
        for i in range(t):
            xi = x[:, i]
            q, k, v = (p(xi).view(b, self.heads, self.key_dim) for p in (self.q_proj, self.k_proj, self.v_proj))
            state = gamma * state + self.scaling * k.unsqueeze(-1) * v.unsqueeze(-2)
            out.append((q.unsqueeze(-1) * state).sum(-2))
        return self.finish(x, torch.stack(out, 2))


left = Parallel().eval()
right = Recurrent().eval()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 6, 16),)
