"""Triangle multiplicative update with outgoing edges (AlphaFold 2, algorithm 11)."""
import torch
from torch import nn
from torch.nn import functional as F

C = 6


class TriangleOutgoing(nn.Module):
    def __init__(self, c_z=8):
        super().__init__()
        self.norm_in = nn.LayerNorm(c_z)
        self.norm_out = nn.LayerNorm(C)
        self.a_p, self.a_g = nn.Linear(c_z, C), nn.Linear(c_z, C)
        self.b_p, self.b_g = nn.Linear(c_z, C), nn.Linear(c_z, C)
        self.gate = nn.Linear(c_z, c_z)
        self.out = nn.Linear(C, c_z)
        for norm in (self.norm_in, self.norm_out):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def forward(self, z, mask):
        pair_mask = (mask[:, :, None] * mask[:, None, :])[..., None]
        x = self.norm_in(z)
        a = pair_mask * torch.sigmoid(self.a_g(x)) * self.a_p(x)
        b = pair_mask * torch.sigmoid(self.b_g(x)) * self.b_p(x)
        k = torch.einsum("bikc,bjkc->bijc", a, b)
        return z + torch.sigmoid(self.gate(x)) * self.out(self.norm_out(k))


class FusedTriangle(nn.Module):
    def __init__(self, ref):
        super().__init__()
        layers = [ref.a_p, ref.b_p, ref.a_g, ref.b_g, ref.gate]
        self.weight = nn.Parameter(torch.cat([l.weight.detach() for l in layers]).T.contiguous())
        self.bias = nn.Parameter(torch.cat([l.bias.detach() for l in layers]))
        self.norm_in, self.norm_out, self.out = ref.norm_in, ref.norm_out, ref.out

    def forward(self, z, mask):
        centred = z - z.mean(-1, keepdim=True)
        x = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
        x = x * self.norm_in.weight + self.norm_in.bias
        p, g, out_gate = (x @ self.weight + self.bias).split([2 * C, 2 * C, z.shape[-1]], dim=-1)
        ab = (p * g.sigmoid()).permute(0, 3, 1, 2)
        ab = ab * mask[:, None, :, None] * mask[:, None, None, :]
        a, b = ab.chunk(2, dim=1)
        k = torch.matmul(a, b.transpose(-1, -2)).permute(0, 2, 3, 1)
        k = F.layer_norm(k, (C,), self.norm_out.weight, self.norm_out.bias)
        return z + self.out(k) * out_gate.sigmoid()


torch.manual_seed(36)
left = TriangleOutgoing()
right = FusedTriangle(left)


def inputs():
    mask = torch.ones(2, 5)
    mask[1, 3:] = 0
    return torch.randn(2, 5, 5, 8), mask
