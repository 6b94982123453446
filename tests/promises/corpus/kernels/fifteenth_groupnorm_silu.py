"""GroupNorm + SiLU over NCHW: one program per image and group, one looped pass for sum and sum of squares, one for the output with per-channel affine."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def group_norm_silu(x_ptr, w_ptr, b_ptr, y_ptr, C, HW, G, eps, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    cpg = C // G
    size = cpg * HW
    base = (n * C + g * cpg) * HW
    s1 = tl.zeros([BLOCK], tl.float32)
    s2 = tl.zeros([BLOCK], tl.float32)
    for o in range(0, size, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0.0).to(tl.float32)
        s1 += x
        s2 += x * x
    mean = tl.sum(s1) / size
    var = tl.sum(s2) / size - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    for o in range(0, size, BLOCK):
        i = o + tl.arange(0, BLOCK)
        m = i < size
        c = g * cpg + i // HW
        x = tl.load(x_ptr + base + i, mask=m, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + c, mask=m, other=0.0)
        b = tl.load(b_ptr + c, mask=m, other=0.0)
        y = (x - mean) * rstd * w + b
        tl.store(y_ptr + base + i, y / (1.0 + tl.exp(-y)), mask=m)


def launch(N=2, C=12, H=5, W=7):
    groups = 4
    x = torch.randn(N, C, H, W, device="cuda")
    weight = torch.randn(C, device="cuda")
    bias = torch.randn(C, device="cuda")
    y = torch.empty_like(x)
    group_norm_silu[(N, groups)](x, weight, bias, y, C, H * W, groups, 1e-5, BLOCK=32)
    return y


def reference(x, weight, bias):
    return F.silu(F.group_norm(x, 4, weight, bias, eps=1e-5))
TRUTH = "verified"
