"""Group norm + SiLU over NCHW. MISTAKE: the centred values are not masked before the variance, so padded lanes add mean^2 unless the group's size is a power of two."""
import torch
import triton
import triton.language as tl


@triton.jit
def _group_norm_silu_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr,
    G, group_elems, channels_per_group, hw, eps,
    BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    g = pid % G
    base = pid.to(tl.int64) * group_elems
    offs = tl.arange(0, BLOCK)
    mask = offs < group_elems
    x = tl.load(x_ptr + base + offs, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / group_elems
    xc = x - mean
    var = tl.sum(xc * xc, axis=0) / group_elems
    rstd = 1.0 / tl.sqrt(var + eps)
    ch = g * channels_per_group + offs // hw
    w = tl.load(w_ptr + ch, mask=mask, other=0.0)
    b = tl.load(b_ptr + ch, mask=mask, other=0.0)
    y = xc * rstd * w + b
    y = y * tl.sigmoid(y)
    tl.store(y_ptr + base + offs, y, mask=mask)


def launch(N=2, G=3, CG=4, HW=16):
    x = torch.randn(N, G * CG, HW, device="cuda")
    weight = torch.randn(G * CG, device="cuda")
    bias = torch.randn(G * CG, device="cuda")
    y = torch.empty_like(x)
    _group_norm_silu_kernel[(N * G,)](
        x, weight, bias, y, G, CG * HW, CG, HW, 1e-5,
        BLOCK=triton.next_power_of_2(CG * HW),
    )
    return y


def reference(x, weight, bias, G):
    y = torch.nn.functional.group_norm(x, G, weight, bias, 1e-5)
    return torch.nn.functional.silu(y)

TRUTH = "broken"
