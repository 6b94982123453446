"""Diffusion: GroupNorm + SiLU on channels-last images, three passes. Mistake: the variance pass does not zero the masked lanes, which add mean^2 each where a tile is not full."""
import torch
import triton
import triton.language as tl


@triton.jit
def groupnorm_silu_nhwc_kernel(
    x_ptr, y_ptr, w_ptr, b_ptr,
    HW, C, groups, eps,
    CPG: tl.constexpr, BLOCK_HW: tl.constexpr, ACT: tl.constexpr,
):
    n, g = tl.program_id(0), tl.program_id(1)
    c = g * CPG + tl.arange(0, CPG)
    base = n * HW * C
    count = HW * CPG
    acc = tl.zeros([BLOCK_HW, CPG], dtype=tl.float32)
    for start in range(0, HW, BLOCK_HW):
        p = start + tl.arange(0, BLOCK_HW)
        x = tl.load(x_ptr + base + p[:, None] * C + c[None, :], mask=p[:, None] < HW, other=0.0)
        acc += x
    mean = tl.sum(acc) / count
    sq = tl.zeros([BLOCK_HW, CPG], dtype=tl.float32)
    for start in range(0, HW, BLOCK_HW):
        p = start + tl.arange(0, BLOCK_HW)
        x = tl.load(x_ptr + base + p[:, None] * C + c[None, :], mask=p[:, None] < HW, other=0.0)
        diff = x - mean
        sq += diff * diff
    rstd = tl.rsqrt(tl.sum(sq) / count + eps)
    w = tl.load(w_ptr + c)
    b = tl.load(b_ptr + c)
    for start in range(0, HW, BLOCK_HW):
        p = start + tl.arange(0, BLOCK_HW)
        mask = p[:, None] < HW
        x = tl.load(x_ptr + base + p[:, None] * C + c[None, :], mask=mask, other=0.0)
        y = (x - mean) * rstd * w[None, :] + b[None, :]
        if ACT == "silu":
            y = y * tl.sigmoid(y)
        tl.store(y_ptr + base + p[:, None] * C + c[None, :], y, mask=mask)


def launch(batch=2, height=5, width=7, groups=3):
    cpg = 4
    x = torch.randn(batch, height, width, groups * cpg, device="cuda") + 1.5
    weight = torch.randn(groups * cpg, device="cuda")
    bias = torch.randn(groups * cpg, device="cuda")
    y = torch.empty_like(x)
    groupnorm_silu_nhwc_kernel[(batch, groups)](
        x, y, weight, bias, height * width, groups * cpg, groups, 1e-5, CPG=cpg, BLOCK_HW=16, ACT="silu"
    )
    return y


def reference(x, weight, bias, groups):
    n = torch.nn.functional.group_norm(x.permute(0, 3, 1, 2), groups, weight, bias, eps=1e-5)
    return torch.nn.functional.silu(n).permute(0, 2, 3, 1)

TRUTH = "broken"
