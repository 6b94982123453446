"""Cross attention of a perceiver resampler, whose latents look at the media tokens and at themselves; the scale is of the padded head size (32), not of the head size (24)."""
import torch
import triton
import triton.language as tl


@triton.jit
def resampler_attn_fwd(Q, KM, VM, KL, VL, OUT, n_latents, n_media, D,
                       BLOCK_L: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    bh = tl.program_id(0)
    l = tl.arange(0, BLOCK_L)
    d = tl.arange(0, BLOCK_D)
    lat = bh * n_latents * D + l[:, None] * D + d[None, :]
    lat_mask = (l[:, None] < n_latents) & (d[None, :] < D)
    scale = BLOCK_D ** -0.5
    q = tl.load(Q + lat, mask=lat_mask, other=0.0) * scale

    # the latents themselves
    k = tl.load(KL + lat, mask=lat_mask, other=0.0)
    v = tl.load(VL + lat, mask=lat_mask, other=0.0)
    s = tl.dot(q, tl.trans(k))
    s = tl.where(l[None, :] < n_latents, s, float("-inf"))
    m_i = tl.max(s, 1)
    p = tl.exp(s - m_i[:, None])
    l_i = tl.sum(p, 1)
    acc = tl.dot(p, v)

    for start in range(0, n_media, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        offs = bh * n_media * D + n[:, None] * D + d[None, :]
        mask = (n[:, None] < n_media) & (d[None, :] < D)
        k = tl.load(KM + offs, mask=mask, other=0.0)
        v = tl.load(VM + offs, mask=mask, other=0.0)
        s = tl.where(n[None, :] < n_media, tl.dot(q, tl.trans(k)), float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m_i = m_new
    tl.store(OUT + lat, acc / l_i[:, None], mask=lat_mask)


def launch(BH=4, n_latents=12, n_media=45, D=24):
    q = torch.randn(BH, n_latents, D, device="cuda")
    k_latents = torch.randn(BH, n_latents, D, device="cuda")
    v_latents = torch.randn(BH, n_latents, D, device="cuda")
    k_media = torch.randn(BH, n_media, D, device="cuda")
    v_media = torch.randn(BH, n_media, D, device="cuda")
    out = torch.empty_like(q)
    resampler_attn_fwd[(BH,)](q, k_media, v_media, k_latents, v_latents, out, n_latents, n_media, D,
                              BLOCK_L=16, BLOCK_N=16, BLOCK_D=triton.next_power_of_2(D))
    return out


def reference(q, k_latents, v_latents, k_media, v_media):
    k = torch.cat([k_media, k_latents], dim=1)
    v = torch.cat([v_media, v_latents], dim=1)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)

TRUTH = "broken"
