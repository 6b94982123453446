# broken: the windows are shifted the wrong way (x rolled by +2 instead of -2); wrong at every size
import torch
import triton
import triton.language as tl


# Swin: roll an image by (-2, -2) and cut it into windows of 4 x 4, in one copy
@triton.jit
def shifted_windows(x_ptr, out_ptr, nh, nw, C, SHIFT: tl.constexpr, WIN: tl.constexpr, BC: tl.constexpr):
    window = tl.program_id(0)
    cell = tl.program_id(1)
    b = window // (nh * nw)
    wi = (window // nw) % nh
    wj = window % nw
    H, W = nh * WIN, nw * WIN
    r = (wi * WIN + cell // WIN + H - SHIFT) % H
    c = (wj * WIN + cell % WIN + W - SHIFT) % W
    ch = tl.arange(0, BC)
    v = tl.load(x_ptr + ((b * H + r) * W + c) * C + ch, mask=ch < C)
    tl.store(out_ptr + (window * WIN * WIN + cell) * C + ch, v, mask=ch < C)


def launch(batch=2, nh=2, nw=3, C=12):
    x = torch.randn(batch, nh * 4, nw * 4, C, device="cuda")
    out = torch.empty(batch * nh * nw, 16, C, device="cuda")
    shifted_windows[(batch * nh * nw, 16)](x, out, nh, nw, C, SHIFT=2, WIN=4, BC=triton.next_power_of_2(C))
    return out


def reference(x, nh, nw, C):
    rolled = torch.roll(x, (-2, -2), (1, 2))
    cut = rolled.reshape(x.shape[0], nh, 4, nw, 4, C).permute(0, 1, 3, 2, 4, 5)
    return cut.reshape(-1, 16, C)


TRUTH = "broken"
