"""ShuffleNet's channel shuffle, out of place, one flat pass."""
import torch
import triton
import triton.language as tl


@triton.jit
def channel_shuffle_kernel(x_ptr, out_ptr, C, HW, groups, total, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < total

    hw = idx % HW
    c = (idx // HW) % C
    n = idx // (HW * C)

    # out channel c comes from group c % groups, place c // groups in it
    per_group = C // groups
    src_c = (c % groups) * per_group + c // groups
    src = (n * C + src_c) * HW + hw

    val = tl.load(x_ptr + src, mask=mask, other=0.0)
    tl.store(out_ptr + idx, val, mask=mask)


def launch(batch=3, channels=15, groups=3, height=5, width=7):
    x = torch.randn(batch, channels, height, width, device="cuda")
    out = torch.empty_like(x)
    total = x.numel()
    grid = lambda meta: (triton.cdiv(total, meta["BLOCK"]),)
    channel_shuffle_kernel[grid](x, out, channels, height * width, groups, total, BLOCK=256)
    return out


launch.assume = ["channels % groups == 0"]


def reference(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


TRUTH = "verified"
