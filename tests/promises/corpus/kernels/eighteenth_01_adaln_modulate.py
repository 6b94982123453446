"""DiT block entry: gated residual add, LayerNorm without affine, then adaLN shift/scale taken from one packed modulation tensor."""
import torch
import triton
import triton.language as tl


@triton.jit
def gate_add_adaln_kernel(
    x_ptr, branch_ptr, mod_ptr, res_ptr, out_ptr,
    stride_xb, stride_xt, stride_mb,
    D, eps,
    BLOCK_D: tl.constexpr,
):
    t = tl.program_id(0)
    b = tl.program_id(1)
    cols = tl.arange(0, BLOCK_D)
    mask = cols < D
    row = b * stride_xb + t * stride_xt

    x = tl.load(x_ptr + row + cols, mask=mask, other=0.0).to(tl.float32)
    h = tl.load(branch_ptr + row + cols, mask=mask, other=0.0).to(tl.float32)
    mod = mod_ptr + b * stride_mb
    shift = tl.load(mod + cols, mask=mask, other=0.0)
    scale = tl.load(mod + D + cols, mask=mask, other=0.0)
    gate = tl.load(mod + 2 * D + cols, mask=mask, other=0.0)

    x = x + gate * h
    tl.store(res_ptr + row + cols, x, mask=mask)

    mean = tl.sum(x, axis=0) / D
    centered = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centered * centered, axis=0) / D
    rstd = tl.rsqrt(var + eps)
    out = centered * rstd * (1.0 + scale) + shift
    tl.store(out_ptr + row + cols, out, mask=mask)


def launch(B=3, T=5, D=72):
    x = torch.randn(B, T, D, device="cuda")
    branch = torch.randn(B, T, D, device="cuda")
    mod = torch.randn(B, 3 * D, device="cuda")
    res = torch.empty_like(x)
    out = torch.empty_like(x)
    gate_add_adaln_kernel[(T, B)](
        x, branch, mod, res, out,
        x.stride(0), x.stride(1), mod.stride(0),
        D, 1e-6,
        BLOCK_D=triton.next_power_of_2(D),
    )
    return res, out


def reference(x, branch, mod):
    shift, scale, gate = mod.chunk(3, dim=-1)
    res = x + gate[:, None, :] * branch
    normed = torch.nn.functional.layer_norm(res, (res.shape[-1],), eps=1e-6)
    return res, normed * (1 + scale[:, None, :]) + shift[:, None, :]

TRUTH = "verified"
