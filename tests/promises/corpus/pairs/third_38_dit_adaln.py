# EQUAL: DiT block: sinusoidal timestep embedding (cos first), adaLN-zero with six chunks vs separate modulation linears, folded 1+scale
import math
import torch
from torch import nn
import torch.nn.functional as F

D, H, FREQ = 8, 2, 8


class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.t_mlp = nn.Sequential(nn.Linear(FREQ, D), nn.SiLU(), nn.Linear(D, D))
        self.norm1 = nn.LayerNorm(D, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(D, elementwise_affine=False, eps=1e-6)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 16), nn.GELU(approximate="tanh"), nn.Linear(16, D))
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(D, 6 * D))

    def forward(self, x, t):
        half = FREQ // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(0, half).to(x.dtype) / half)
        args = t[:, None].to(x.dtype) * freqs[None]
        c = self.t_mlp(torch.cat([torch.cos(args), torch.sin(args)], -1))
        sh1, sc1, g1, sh2, sc2, g2 = self.adaLN_modulation(c).chunk(6, dim=1)
        mod = lambda y, sh, sc: y * (1 + sc.unsqueeze(1)) + sh.unsqueeze(1)
        x = x + g1.unsqueeze(1) * self.attn(mod(self.norm1(x), sh1, sc1))
        return x + g2.unsqueeze(1) * self.mlp(mod(self.norm2(x), sh2, sc2))

    def attn(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, H, D // H).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, D))


class Port(nn.Module):
    """Diffusers' convention: sin and cos flipped into the first linear's columns; scale bias has the 1 in it."""

    def __init__(self, src):
        super().__init__()
        self.l1, self.l2 = nn.Linear(FREQ, D), nn.Linear(D, D)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.f1, self.f2 = nn.Linear(D, 16), nn.Linear(16, D)
        self.mods = nn.ModuleList(nn.Linear(D, D) for _ in range(6))
        h = FREQ // 2
        with torch.no_grad():
            self.l1.weight.copy_(torch.cat([src.t_mlp[0].weight[:, h:], src.t_mlp[0].weight[:, :h]], 1))
            self.l1.bias.copy_(src.t_mlp[0].bias)
            for i, m in enumerate((self.q, self.k, self.v)):
                m.weight.copy_(src.qkv.weight.chunk(3)[i])
                m.bias.copy_(src.qkv.bias.chunk(3)[i])
            for i, m in enumerate(self.mods):
                m.weight.copy_(src.adaLN_modulation[1].weight.chunk(6)[i])
                m.bias.copy_(src.adaLN_modulation[1].bias.chunk(6)[i])
        self.l2.load_state_dict(src.t_mlp[2].state_dict())
        self.o.load_state_dict(src.proj.state_dict())
        self.f1.load_state_dict(src.mlp[0].state_dict())
        self.f2.load_state_dict(src.mlp[2].state_dict())

    def forward(self, x, t):
        h = FREQ // 2
        w = 10000.0 ** (-torch.arange(h).to(x.dtype) / h)
        ang = torch.outer(t.to(x.dtype), w)
        c = F.silu(self.l2(F.silu(self.l1(torch.cat([ang.sin(), ang.cos()], -1)))))
        sh1, sc1, g1, sh2, sc2, g2 = (m(c)[:, None] for m in self.mods)
        y = torch.addcmul(sh1, F.layer_norm(x, (D,), eps=1e-6), 1 + sc1)
        heads = lambda z: z.unflatten(-1, (H, -1)).transpose(1, 2)
        q, k, v = heads(self.q(y)), heads(self.k(y)), heads(self.v(y))
        a = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(D // H), -1) @ v
        x = torch.addcmul(x, g1, self.o(a.transpose(1, 2).flatten(2)))
        y = torch.addcmul(sh2, F.layer_norm(x, (D,), eps=1e-6), 1 + sc2)
        return torch.addcmul(x, g2, self.f2(F.gelu(self.f1(y), approximate="tanh")))


left = DiT()
right = Port(left)


def inputs():
    return torch.randn(2, 5, D), torch.randint(0, 1000, (2,))
