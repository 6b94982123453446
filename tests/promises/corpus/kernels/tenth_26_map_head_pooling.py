"""SigLIP's attention-pooling head, the core of it: one learned query for each head attends over all patches."""
import torch
import triton
import triton.language as tl


@triton.jit
def map_pool_kernel(
    probe_ptr, k_ptr, v_ptr, out_ptr,
    stride_kb, stride_kn, stride_kh,
    stride_ob, stride_oh,
    n_patches, head_dim,
    BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, BLOCK_D)
    d_mask = d < head_dim
    scale = 1.0 / tl.sqrt(float(BLOCK_D))
    probe = tl.load(probe_ptr + h * head_dim + d, mask=d_mask, other=0.0) * scale

    m = -float("inf")
    l = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for start in range(0, n_patches, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        tile_mask = (n < n_patches)[:, None] & d_mask[None, :]
        off = b * stride_kb + n[:, None] * stride_kn + h * stride_kh + d[None, :]
        k = tl.load(k_ptr + off, mask=tile_mask, other=0.0)
        v = tl.load(v_ptr + off, mask=tile_mask, other=0.0)
        s = tl.sum(probe[None, :] * k, axis=1)
        s = tl.where(n < n_patches, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=0)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        m = m_new
    tl.store(out_ptr + b * stride_ob + h * stride_oh + d, acc / l, mask=d_mask)


def launch(batch=3, patches=49, heads=2, head_dim=24):
    probe = torch.randn(heads, head_dim, device="cuda")
    k = torch.randn(batch, patches, heads, head_dim, device="cuda")
    v = torch.randn(batch, patches, heads, head_dim, device="cuda")
    out = torch.empty(batch, heads, head_dim, device="cuda")
    map_pool_kernel[(batch, heads)](
        probe, k, v, out, k.stride(0), k.stride(1), k.stride(2), out.stride(0), out.stride(1),
        patches, head_dim, BLOCK_N=32, BLOCK_D=triton.next_power_of_2(head_dim),
    )
    return out


def reference(probe, k, v):
    scores = torch.einsum("hd,bnhd->bhn", probe, k) * k.shape[-1] ** -0.5
    return torch.einsum("bhn,bnhd->bhd", scores.softmax(-1), v)


TRUTH = "broken"
# WHY: the scores are scaled by the padded tile's width, 1/√32, and not by the head's, 1/√24.
