import torch
import triton
import triton.language as tl


# soft-argmax of heat maps (DSNT): expected x and y in [-1, 1], one pass with an online softmax
@triton.jit
def soft_argmax_kernel(heat_ptr, out_ptr, H, W, inv_temp, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    HW = H * W
    m = -float("inf")
    l = 0.0
    ex = 0.0
    ey = 0.0
    for start in range(0, HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mask = i < HW
        s = tl.load(heat_ptr + pid * HW + i, mask=mask, other=-float("inf")) * inv_temp
        m_new = tl.maximum(m, tl.max(s, axis=0))
        corr = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        x = (i % W).to(tl.float32) * 2.0 / (W - 1) - 1.0
        y = (i // W).to(tl.float32) * 2.0 / (H - 1) - 1.0
        l = l * corr + tl.sum(p, axis=0)
        ex = ex * corr + tl.sum(p * x, axis=0)
        ey = ey * corr + tl.sum(p * y, axis=0)
        m = m_new
    tl.store(out_ptr + pid * 2, ex / l)
    tl.store(out_ptr + pid * 2 + 1, ey / l)


def launch(batch=3, joints=4, height=13, width=18):
    heat = torch.randn(batch, joints, height, width, device="cuda")
    coords = torch.empty(batch, joints, 2, device="cuda")
    soft_argmax_kernel[(batch * joints,)](heat, coords, height, width, 4.0, BLOCK=64)
    return coords


def reference(heat):
    b, k, h, w = heat.shape
    p = torch.softmax(heat.reshape(b, k, h * w) * 4.0, dim=-1).reshape(b, k, h, w)
    xs = torch.arange(w, device=heat.device, dtype=torch.float32) * 2 / (w - 1) - 1
    ys = torch.arange(h, device=heat.device, dtype=torch.float32) * 2 / (h - 1) - 1
    ex = (p.sum(2) * xs).sum(-1)
    ey = (p.sum(3) * ys).sum(-1)
    return torch.stack([ex, ey], dim=-1)


TRUTH = "verified"
