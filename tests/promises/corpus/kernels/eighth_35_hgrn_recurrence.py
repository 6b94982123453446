# Hierarchically gated recurrence: h = f * h + (1 - f) * i, with an initial state, and the last one returned.
import torch
import triton
import triton.language as tl


@triton.jit
def hgrn_kernel(i_ptr, f_ptr, h0_ptr, o_ptr, ht_ptr, T, D, BLOCK: tl.constexpr):
    batch = tl.program_id(1)
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    h = tl.load(h0_ptr + batch * D + d, mask=mask, other=0.0)
    p_i = i_ptr + batch * T * D + d
    p_f = f_ptr + batch * T * D + d
    p_o = o_ptr + batch * T * D + d
    for _ in range(T):
        x = tl.load(p_i, mask=mask, other=0.0)
        f = tl.load(p_f, mask=mask, other=0.0)
        h = f * h + (1.0 - f) * x
        tl.store(p_o, h, mask=mask)
        p_i += D
        p_f += D
        p_o += D
    tl.store(ht_ptr + batch * D + d, h, mask=mask)


def launch(B=2, T=5, D=40):
    inp = torch.randn(B, T, D, device="cuda")
    forget = torch.sigmoid(torch.randn(B, T, D, device="cuda"))
    h0 = torch.randn(B, D, device="cuda")
    out = torch.empty_like(inp)
    last = torch.empty_like(h0)
    hgrn_kernel[(triton.cdiv(D, 32), B)](inp, forget, h0, out, last, T, D, BLOCK=32)
    return out, last


def reference(inp, forget, h0):
    h, out = h0, []
    for t in range(inp.shape[1]):
        h = forget[:, t] * h + (1 - forget[:, t]) * inp[:, t]
        out.append(h)
    return torch.stack(out, 1), h


TRUTH = "verified"
