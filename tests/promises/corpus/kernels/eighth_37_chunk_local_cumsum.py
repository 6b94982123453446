# Log decays are summed up within chunks of 16 steps; the layer pads T to whole chunks before.
import torch
import triton
import triton.language as tl


@triton.jit
def local_cumsum_kernel(g_ptr, out_ptr, T, H, BT: tl.constexpr):
    chunk = tl.program_id(0)
    bh = tl.program_id(1)
    b = bh // H
    h = bh % H
    t = chunk * BT + tl.arange(0, BT)
    offs = (b * T + t) * H + h
    g = tl.load(g_ptr + offs)
    tl.store(out_ptr + offs, tl.cumsum(g, axis=0))


def launch(B=2, T=48, H=3):
    g = torch.randn(B, T, H, device="cuda")
    out = torch.empty_like(g)
    local_cumsum_kernel[(T // 16, B * H)](g, out, T, H, BT=16)
    return out


launch.assume = ["T % 16 == 0"]


def reference(g):
    B, T, H = g.shape
    return g.view(B, T // 16, 16, H).cumsum(dim=2).view(B, T, H)


TRUTH = "verified"
