"""Max pooling 3 x 3, stride 2, padding 1, whose padded positions load as 0 instead of -inf, so that borders of negative numbers give 0."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def maxpool2d_kernel(x_ptr, o_ptr, H, W, OH, OW, KERNEL: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    idx = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = idx < OH * OW
    oh = idx // OW
    ow = idx % OW
    best = tl.full([BLOCK], float("-inf"), dtype=tl.float32)
    for i in tl.static_range(KERNEL):
        for j in tl.static_range(KERNEL):
            h = oh * STRIDE - PAD + i
            w = ow * STRIDE - PAD + j
            inside = live & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            x = tl.load(x_ptr + plane * H * W + h * W + w, mask=inside, other=0.0)
            best = tl.maximum(best, x)
    tl.store(o_ptr + plane * OH * OW + idx, best, mask=live)


def launch(images=3, channels=5, H=13, W=18):
    x = torch.randn(images, channels, H, W)
    OH, OW = (H - 1) // 2 + 1, (W - 1) // 2 + 1
    out = torch.empty(images, channels, OH, OW)
    maxpool2d_kernel[(images * channels, triton.cdiv(OH * OW, 32))](
        x, out, H, W, OH, OW, KERNEL=3, STRIDE=2, PAD=1, BLOCK=32
    )
    return out


def reference(x):
    return F.max_pool2d(x, 3, stride=2, padding=1)
TRUTH = "broken"
