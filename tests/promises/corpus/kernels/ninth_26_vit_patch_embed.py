"""ViT's input: patch convolution as an implicit GEMM, class token and position embedding in the same kernel."""
import torch
import triton
import triton.language as tl


@triton.jit
def patch_embed_kernel(
    img_ptr, w_ptr, b_ptr, cls_ptr, pos_ptr, out_ptr,
    Ch, Hi, Wi, GW, N, D,
    P: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(0)
    t = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)      # 0 is the class token
    d = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    t_mask = t <= N
    d_mask = d < D
    is_patch = (t > 0) & t_mask
    patch = t - 1
    gy, gx = patch // GW, patch % GW

    K = Ch * P * P
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        k_mask = k < K
        c = k // (P * P)
        py = (k % (P * P)) // P
        px = k % P
        y = gy[:, None] * P + py[None, :]
        x = gx[:, None] * P + px[None, :]
        a = tl.load(
            img_ptr + ((batch * Ch + c[None, :]) * Hi + y) * Wi + x,
            mask=is_patch[:, None] & k_mask[None, :], other=0.0,
        )
        w = tl.load(w_ptr + d[None, :] * K + k[:, None], mask=d_mask[None, :] & k_mask[:, None], other=0.0)
        acc += tl.dot(a, w)

    bias = tl.load(b_ptr + d, mask=d_mask, other=0.0)
    cls = tl.load(cls_ptr + d, mask=d_mask, other=0.0)
    mask = t_mask[:, None] & d_mask[None, :]
    pos = tl.load(pos_ptr + t[:, None] * D + d[None, :], mask=mask, other=0.0)
    val = tl.where(is_patch[:, None], acc + bias[None, :], cls[None, :]) + pos
    tl.store(out_ptr + (batch * (N + 1) + t[:, None]) * D + d[None, :], val, mask=mask)


def launch(batch=3, channels=3, gh=3, gw=5, dim=21):
    patch = 4
    img = torch.randn(batch, channels, gh * patch, gw * patch, device="cuda")
    weight = torch.randn(dim, channels, patch, patch, device="cuda")
    bias = torch.randn(dim, device="cuda")
    cls = torch.randn(dim, device="cuda")
    pos = torch.randn(gh * gw + 1, dim, device="cuda")
    n = gh * gw
    out = torch.empty(batch, n + 1, dim, device="cuda")
    grid = lambda m: (batch, triton.cdiv(n + 1, m["BLOCK_M"]), triton.cdiv(dim, m["BLOCK_N"]))
    patch_embed_kernel[grid](
        img, weight, bias, cls, pos, out,
        channels, gh * patch, gw * patch, gw, n, dim,
        P=patch, BLOCK_M=16, BLOCK_N=16, BLOCK_K=32,
    )
    return out


def reference(img, weight, bias, cls, pos):
    x = torch.nn.functional.conv2d(img, weight, bias, stride=4).flatten(2).transpose(1, 2)
    x = torch.cat([cls.expand(x.shape[0], 1, -1), x], dim=1)
    return x + pos


TRUTH = "verified"
