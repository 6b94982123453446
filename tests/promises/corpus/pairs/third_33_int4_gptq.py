# DIFFERENT: GPTQ-style int4 groupwise linear: packed int32 unpacked with zero point z vs AutoGPTQ's z+1 convention
import torch
from torch import nn

I, O, GROUP = 16, 6, 8


class Packed(nn.Module):
    def __init__(self, src=None):
        super().__init__()
        if src is None:
            codes = torch.randint(0, 16, (I, O), dtype=torch.int32)
            packed = torch.zeros(I // 8, O, dtype=torch.int32)
            for k in range(8):
                packed |= codes[k::8] << (4 * k)
            scales = torch.rand(I // GROUP, O) * 0.1 + 0.02
            zeros = torch.randint(6, 10, (I // GROUP, O), dtype=torch.int32)
        else:
            packed, scales, zeros = src.qweight, src.scales, src.qzeros
        self.register_buffer("qweight", packed.clone())
        self.register_buffer("scales", scales.clone())
        self.register_buffer("qzeros", zeros.clone())

    def unpack(self):
        shifts = torch.arange(0, 32, 4, dtype=torch.int32)
        q = (self.qweight[:, None, :] >> shifts[None, :, None]) & 0xF
        return q.reshape(I, O)


class Ours(Packed):
    def forward(self, x):
        q = self.unpack().view(I // GROUP, GROUP, O)
        w = (q - self.qzeros[:, None]).to(x.dtype) * self.scales[:, None]
        return x @ w.view(I, O)


class AutoGPTQ(Packed):
    def forward(self, x):
        g_idx = torch.arange(I) // GROUP
        zeros = self.qzeros + 1
        w = self.scales[g_idx] * (self.unpack() - zeros[g_idx]).to(x.dtype)
        return torch.matmul(x, w)


left = Ours()
right = AutoGPTQ(left)


def inputs():
    return (torch.randn(3, I),)
