"""gnsilu, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _group_norm_silu_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    out_ptr,
    stride_n,
    stride_c,
    hw,
    groups,
    group_c,
    eps,
    BLOCK: tl.constexpr,
):
    n = tl.program_id(0) // groups
    g = tl.program_id(0) % groups
    size = group_c * hw
    base = n * stride_n + g * group_c * stride_c

    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + base + offs, mask=offs < size, other=0.0).to(tl.float32)
    mean = tl.sum(acc, 0) / size

    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        d = tl.load(x_ptr + base + offs, mask=offs < size, other=0.0).to(tl.float32) - mean
        acc += d * d
    rstd = tl.rsqrt(tl.sum(acc, 0) / size + eps)

    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < size
        c = g * group_c + offs // hw
        x = tl.load(x_ptr + base + offs, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + c, mask=mask, other=0.0)
        b = tl.load(b_ptr + c, mask=mask, other=0.0)
        y = (x - mean) * rstd * w + b
        tl.store(out_ptr + base + offs, y * tl.sigmoid(y), mask=mask)


def group_norm_silu(x, weight, bias, groups, eps=1e-5):
    x = x.contiguous()
    N, C, H, W = x.shape
    out = torch.empty_like(x)
    _group_norm_silu_kernel[(N * groups,)](
        x, weight, bias, out, x.stride(0), x.stride(1), H * W, groups, C // groups, eps, BLOCK=64
    )
    return out


def launch(batch=2, groups=3, group_c=4, height=8, width=8):
    x = torch.rand(batch, groups * group_c, height, width, device="cuda")
    weight = torch.randn(groups * group_c, device="cuda")
    bias = torch.randn(groups * group_c, device="cuda")
    return group_norm_silu(x, weight, bias, groups)


def reference(x, weight, bias, groups):
    return torch.nn.functional.silu(torch.nn.functional.group_norm(x, groups, weight, bias, 1e-5))


TRUTH = "broken"
