"""A decoder's NV12 frame (luma plane, interleaved chroma at half size) to planar RGB in [0, 1], BT.601 limited range."""
import torch
import triton
import triton.language as tl


@triton.jit
def nv12_to_rgb_kernel(
    y_ptr, uv_ptr, out_ptr,
    H, W, stride_y, stride_uv, stride_oc, stride_oh,
    BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
):
    h = tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H)
    w = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (h[:, None] < H) & (w[None, :] < W)

    yy = tl.load(y_ptr + h[:, None] * stride_y + w[None, :], mask=mask, other=16).to(tl.float32)
    uv = uv_ptr + (h // 2)[:, None] * stride_uv + (w // 2)[None, :] * 2
    u = tl.load(uv, mask=mask, other=128).to(tl.float32) - 128.0
    v = tl.load(uv + 1, mask=mask, other=128).to(tl.float32) - 128.0

    yy = 1.164 * (yy - 16.0)
    r = yy + 1.596 * v
    g = yy - 0.813 * v - 0.391 * u
    b = yy + 2.018 * u
    out = out_ptr + h[:, None] * stride_oh + w[None, :]
    inv: tl.constexpr = 1.0 / 255.0
    tl.store(out, tl.minimum(tl.maximum(r * inv, 0.0), 1.0), mask=mask)
    tl.store(out + stride_oc, tl.minimum(tl.maximum(g * inv, 0.0), 1.0), mask=mask)
    tl.store(out + 2 * stride_oc, tl.minimum(tl.maximum(b * inv, 0.0), 1.0), mask=mask)


def launch(H=7, W=45):
    y = torch.randint(0, 256, (H, W), dtype=torch.uint8, device="cuda")
    uv = torch.randint(0, 256, ((H + 1) // 2, (W + 1) // 2, 2), dtype=torch.uint8, device="cuda")
    out = torch.empty(3, H, W, device="cuda")
    grid = lambda meta: (triton.cdiv(H, meta["BLOCK_H"]), triton.cdiv(W, meta["BLOCK_W"]))
    nv12_to_rgb_kernel[grid](
        y, uv, out, H, W,
        W, W, out.stride(0), out.stride(1),
        BLOCK_H=4, BLOCK_W=32,
    )
    return out


def reference(y, uv):
    H, W = y.shape
    chroma = uv.repeat_interleave(2, 0).repeat_interleave(2, 1)[:H, :W].to(torch.float32) - 128
    u, v = chroma[..., 0], chroma[..., 1]
    luma = 1.164 * (y.to(torch.float32) - 16)
    rgb = torch.stack([luma + 1.596 * v, luma - 0.813 * v - 0.391 * u, luma + 2.018 * u])
    return (rgb / 255).clamp(0, 1)


TRUTH = "broken"
# WHY: the chroma plane's row stride is given as W (the luma's pitch), but its rows are 2 * ((W + 1) // 2) long, one more for odd W:
# wrong colours from the third line on (right for even W).
