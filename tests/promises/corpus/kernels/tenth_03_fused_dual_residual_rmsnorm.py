"""SGLang's fused dual residual RMSNorm (Grok): mid = rmsnorm(x)·w1 + residual, out = rmsnorm(mid)·w2; both are kept."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_dual_residual_rmsnorm_kernel(
    output_ptr,
    mid_ptr,
    activ_ptr,
    residual_ptr,
    weight1_ptr,
    weight2_ptr,
    eps: tl.constexpr,
    hidden_dim: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    input_start = pid * hidden_dim

    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < hidden_dim

    a_ = tl.load(activ_ptr + input_start + offsets, mask=mask, other=0.0)
    a = a_.to(tl.float32)
    rms = tl.sqrt(tl.sum(a * a, axis=0) / hidden_dim + eps)

    r = tl.load(residual_ptr + input_start + offsets, mask=mask, other=0.0)
    w1_ = tl.load(weight1_ptr + offsets, mask=mask, other=0.0)
    w1 = w1_.to(tl.float32)

    a2r = r + (a / rms * w1).to(r.dtype)
    tl.store(mid_ptr + input_start + offsets, a2r, mask=mask)

    a2r = a2r.to(tl.float32)
    rms2 = tl.sqrt(tl.sum(a2r * a2r, axis=0) / hidden_dim + eps)

    w2_ = tl.load(weight2_ptr + offsets, mask=mask, other=0.0)
    w2 = w2_.to(tl.float32)

    tl.store(output_ptr + input_start + offsets, a2r / rms2 * w2, mask=mask)


def fused_dual_residual_rmsnorm(x, residual, weight1, weight2, eps):
    assert len(x.shape) == 2
    assert x.shape == residual.shape and x.dtype == residual.dtype
    output, mid = torch.empty_like(x), torch.empty_like(x)
    bs, hidden_dim = x.shape
    fused_dual_residual_rmsnorm_kernel[(bs,)](
        output, mid, x, residual, weight1, weight2,
        eps=eps, hidden_dim=hidden_dim, BLOCK_SIZE=triton.next_power_of_2(hidden_dim),
    )
    return output, mid


def launch(tokens=5, hidden=75):
    x = torch.randn(tokens, hidden, device="cuda")
    residual = torch.randn(tokens, hidden, device="cuda")
    weight1 = torch.randn(hidden, device="cuda")
    weight2 = torch.randn(hidden, device="cuda")
    return fused_dual_residual_rmsnorm(x, residual, weight1, weight2, 1e-6)


def reference(x, residual, weight1, weight2):
    def rms_norm(t, w):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + 1e-6) * w

    mid = rms_norm(x, weight1) + residual
    return rms_norm(mid, weight2), mid


TRUTH = "verified"
