"""fairseq's lightweight convolution (Pay Less Attention): unfolds into a banded matrix and multiplies once."""
import torch
from torch import nn
from torch.nn import functional as F


class LightConvTBC(nn.Module):
    def __init__(self, dim=12, heads=3, kernel=4):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.linear1 = nn.Linear(dim, 2 * dim)
        self.weight = nn.Parameter(torch.randn(heads, 1, kernel))
        self.bias = nn.Parameter(torch.randn(dim) * 0.1)
        self.linear2 = nn.Linear(dim, dim)

    def forward(self, x):                                  # T x B x C
        x = F.glu(self.linear1(x), dim=-1)
        T, B, C = x.size()
        K, H = self.kernel, self.heads
        R = C // H
        weight = F.softmax(self.weight.view(H, K), dim=1)
        weight = weight.view(1, H, K).expand(T * B, H, K).contiguous()
        weight = weight.view(T, B * H, K).transpose(0, 1)
        x = x.view(T, B * H, R).transpose(0, 1)
        P = K - 1                                          # causal
        band = weight.new_zeros(B * H, T, T + K - 1, requires_grad=False)
        band.as_strided((B * H, T, K), (T * (T + K - 1), T + K, 1)).copy_(weight)
        band = band.narrow(2, P, T)
        out = torch.bmm(band, x)
        out = out.transpose(0, 1).contiguous().view(T, B, C) + self.bias
        return self.linear2(out)


def inputs():
    return (torch.randn(7, 2, 12),)
