"""At the border the sum of the window's valid elements is divided by nine, while the reference leaves padding out of the count (wrong scale)."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def avgpool_kernel(x_ptr, out_ptr, H, W, OH, OW, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < OH * OW
    oh = offs // OW
    ow = offs % OW
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            h = oh * 2 - 1 + i
            w = ow * 2 - 1 + j
            inside = mask & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            acc += tl.load(x_ptr + plane * H * W + h * W + w, mask=inside, other=0.0)
    tl.store(out_ptr + plane * OH * OW + offs, acc / 9.0, mask=mask)


def launch(batch=2, channels=5, height=14, width=11):
    out_h, out_w = (height - 1) // 2 + 1, (width - 1) // 2 + 1
    x = torch.randn(batch, channels, height, width, device="cuda")
    out = torch.empty(batch, channels, out_h, out_w, device="cuda")
    avgpool_kernel[(batch * channels, triton.cdiv(out_h * out_w, 32))](x, out, height, width, out_h, out_w, BLOCK=32)
    return out


def reference(x):
    return F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)


TRUTH = "broken"
