import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
IN, OUT, GROUP = 16, 8, 8
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


class PlainInt4(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.randint(0, 16, (OUT, IN), dtype=torch.int8))
        self.register_buffer("zeros", torch.randint(0, 16, (OUT, IN // GROUP), dtype=torch.int8))
        self.scales = nn.Parameter(torch.rand(OUT, IN // GROUP) * 0.1 + 0.01)
        self.bias = nn.Parameter(torch.randn(OUT))

    def forward(self, x):
        z = self.zeros.repeat_interleave(GROUP, dim=1)
        s = self.scales.repeat_interleave(GROUP, dim=1)
        w = (self.codes.to(x.dtype) - z.to(x.dtype)) * s
        return F.linear(x, w, self.bias)


def pack(codes):
    """codes: rows x columns of 0..15, eight columns in one int32"""
    wide = codes.to(torch.int64).view(codes.shape[0], -1, 8)
    word = torch.zeros(wide.shape[:2], dtype=torch.int64)
    for position, column in enumerate(AWQ_ORDER):
        word |= wide[..., column] << (4 * position)
    return torch.where(word >= 2**31, word - 2**32, word).to(torch.int32)


class AwqLinear(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.register_buffer("qweight", pack(ref.codes.t()))  # in x out/8
        self.register_buffer("qzeros", pack(ref.zeros.t()))  # groups x out/8
        self.scales = nn.Parameter(ref.scales.detach().t().contiguous())
        self.bias = nn.Parameter(ref.bias.detach().clone())
        self.register_buffer("shifts", torch.arange(0, 32, 4, dtype=torch.int32), persistent=False)

    def unpack(self, words):
        nibbles = torch.bitwise_and(torch.bitwise_right_shift(words[:, :, None], self.shifts), 0xF)
        undo = [AWQ_ORDER.index(i) for i in range(8)]
        return nibbles[:, :, undo].reshape(words.shape[0], -1)

    def forward(self, x):
        q = self.unpack(self.qweight).view(IN // GROUP, GROUP, OUT)
        z = self.unpack(self.qzeros)[:, None]
        w = (q - z) * self.scales[:, None]
        return x @ w.reshape(IN, OUT) + self.bias


left = PlainInt4()
right = AwqLinear(left)
inputs = (torch.randn(3, IN),)
