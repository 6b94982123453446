# EQUAL. AWQ/GPTQ-like linear: packed nibbles (shifts and masks), group-wise scale and zero; vs // and % and repeated scales
import torch
from torch import nn

IN, OUT, G = 16, 6, 4
torch.manual_seed(0)
codes = torch.randint(0, 16, (OUT, IN), dtype=torch.uint8)
packed = (codes[:, 0::2] | (codes[:, 1::2] << 4)).contiguous()
scales = torch.rand(OUT, IN // G) + 0.1
zeros = torch.randint(0, 16, (OUT, IN // G)).to(scales.dtype)


class Int4Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("qweight", packed.clone())
        self.register_buffer("scales", scales.clone())
        self.register_buffer("zeros", zeros.clone())

    def forward(self, x):
        lo = self.qweight & 0x0F
        hi = (self.qweight >> 4) & 0x0F
        q = torch.stack([lo, hi], dim=-1).view(OUT, IN)
        w = (q.view(OUT, IN // G, G).to(x.dtype) - self.zeros[..., None]) * self.scales[..., None]
        return x @ w.view(OUT, IN).t()


class Arith(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.register_buffer("qw", m.qweight.clone())
        self.register_buffer("s", m.scales.repeat_interleave(G, 1))
        self.register_buffer("sz", (m.scales * m.zeros).repeat_interleave(G, 1))

    def forward(self, x):
        b = self.qw.to(torch.int32)
        w = torch.empty(OUT, IN, dtype=x.dtype)
        w[:, ::2] = (b % 16).to(x.dtype)
        w[:, 1::2] = torch.div(b, 16, rounding_mode="floor").to(x.dtype)
        return torch.nn.functional.linear(x, w * self.s - self.sz)


left = Int4Linear()
right = Arith(left)
inputs = (torch.randn(3, IN),)
