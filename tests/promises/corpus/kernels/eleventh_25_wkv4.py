import torch
import triton
import triton.language as tl


# RWKV-4: the numerically stable wkv recurrence, one lane per channel
@triton.jit
def wkv4_kernel(w_ptr, u_ptr, k_ptr, v_ptr, y_ptr, T, C, BLOCK_C: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = c < C
    w = tl.load(w_ptr + c, mask=mask, other=0.0)
    u = tl.load(u_ptr + c, mask=mask, other=0.0)
    aa = tl.zeros((BLOCK_C,), tl.float32)
    bb = tl.zeros((BLOCK_C,), tl.float32)
    pp = tl.full((BLOCK_C,), -1e38, tl.float32)
    for t in range(T):
        off = (b * T + t) * C + c
        kk = tl.load(k_ptr + off, mask=mask, other=0.0)
        vv = tl.load(v_ptr + off, mask=mask, other=0.0)
        ww = u + kk
        p = tl.maximum(pp, ww)
        e1 = tl.exp(pp - p)
        e2 = tl.exp(ww - p)
        tl.store(y_ptr + off, (e1 * aa + e2 * vv) / (e1 * bb + e2), mask=mask)
        ww = pp - tl.exp(w)
        p = tl.maximum(ww, kk)
        e1 = tl.exp(ww - p)
        e2 = tl.exp(kk - p)
        aa = e1 * aa + e2 * vv
        bb = e1 * bb + e2
        pp = p


def launch(batch=2, steps=9, channels=40):
    w = torch.randn(channels, device="cuda")
    u = torch.randn(channels, device="cuda")
    k = torch.randn(batch, steps, channels, device="cuda")
    v = torch.randn(batch, steps, channels, device="cuda")
    y = torch.empty_like(v)
    wkv4_kernel[(batch, triton.cdiv(channels, 32))](w, u, k, v, y, steps, channels, BLOCK_C=32)
    return y


def reference(w, u, k, v):
    decay = torch.exp(-torch.exp(w))
    num = torch.zeros_like(k[:, 0])
    den = torch.zeros_like(k[:, 0])
    out = []
    for t in range(k.shape[1]):
        now = torch.exp(u + k[:, t])
        out.append((num + now * v[:, t]) / (den + now))
        num = decay * num + torch.exp(k[:, t]) * v[:, t]
        den = decay * den + torch.exp(k[:, t])
    return torch.stack(out, dim=1)


TRUTH = "verified"
