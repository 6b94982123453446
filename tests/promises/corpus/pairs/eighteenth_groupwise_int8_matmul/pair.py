import torch

GROUP = 4


def dequantise_first(x, qweight, scales, zeros):
    """AWQ / GPTQ reference: rebuild the weight, then one matmul."""
    wide_scales = scales.repeat_interleave(GROUP, dim=1)
    wide_zeros = zeros.repeat_interleave(GROUP, dim=1)
    weight = (qweight.to(x.dtype) - wide_zeros.to(x.dtype)) * wide_scales
    return x @ weight.t()


def scale_partial_sums(x, qweight, scales, zeros):
    """As a kernel does it: integers are multiplied group by group, scale and zero point come after."""
    out_features, groups = scales.shape
    xg = x.unflatten(-1, (groups, GROUP))
    qg = qweight.view(out_features, groups, GROUP).to(x.dtype)
    partial = torch.einsum("...gk,ogk->...og", xg, qg)
    correction = zeros.to(x.dtype) * xg.sum(dim=-1).unsqueeze(-2)
    return ((partial - correction) * scales).sum(dim=-1)


def example(B=2, T=3, O=5, G=3):
    q = torch.randint(-128, 128, (O, G * GROUP), dtype=torch.int8)
    z = torch.randint(-8, 8, (O, G), dtype=torch.int8)
    return torch.randn(B, T, G * GROUP), q, torch.rand(O, G) * 0.1, z


def inputs():
    return example()
