# EQUAL
import torch

GROUP = 4


def left(x, codes, scales, zeros):
    """dequantise the whole weight, then multiply"""
    s = scales.repeat_interleave(GROUP, dim=0)
    z = zeros.repeat_interleave(GROUP, dim=0)
    weight = (codes - z).to(x.dtype) * s
    return x @ weight


def right(x, codes, scales, zeros):
    """integers first; scale and zero point once per group"""
    n, k = x.shape
    xg = x.reshape(n, k // GROUP, GROUP)
    cg = codes.reshape(k // GROUP, GROUP, -1).to(x.dtype)
    partial = torch.einsum("ngi,gim->ngm", xg, cg)
    partial = partial - xg.sum(-1, keepdim=True) * zeros.to(x.dtype)
    return (partial * scales).sum(1)


def inputs():
    torch.manual_seed(4)
    return (
        torch.randn(3, 12),
        torch.randint(0, 16, (12, 5)),
        torch.rand(3, 5) + 0.01,
        torch.randint(0, 16, (3, 5)),
    )
