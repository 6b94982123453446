import torch
import triton
import triton.language as tl


@triton.jit
def max_pool2d_k(inp, out, n_out, IH, IW, OH, OW, BLOCK: tl.constexpr):
    # kernel 2 x 2, stride 2
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = idx < n_out
    ow = idx % OW
    oh = (idx // OW) % OH
    nc = idx // (OW * OH)
    best = tl.full((BLOCK,), float('-inf'), tl.float32)
    for dy in tl.static_range(2):
        for dx in tl.static_range(2):
            val = tl.load(inp + nc * IH * IW + (2 * oh + dy) * IW + 2 * ow + dx, mask=ok, other=float('-inf'))
            best = tl.maximum(best, val)
    tl.store(out + idx, best, mask=ok)


def max_pool(x):
    N, C, H, W = x.shape
    out = x.new_empty(N, C, H // 2, W // 2)
    n = out.numel()
    max_pool2d_k[(triton.cdiv(n, 64),)](x, out, n, H, W, H // 2, W // 2, BLOCK=64)
    return out


def launch(N=2, C=3, h=5, w=4):
    x = torch.randn(N, C, 2 * h, 2 * w)
    return max_pool(x)


def reference(x):
    return torch.nn.functional.max_pool2d(x, 2)


TRUTH = "verified"
