"""Mamba-2 SSD, last step: the state that enters a chunk, the causal part inside of it, and the skip D x."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_scan_kernel(
    cb_ptr, x_ptr, out_ptr, dt_ptr, dA_ptr, C_ptr, states_ptr, D_ptr,
    L, H, G, heads_per_group, nchunks,
    Q: tl.constexpr, P: tl.constexpr, N: tl.constexpr,
):
    c = tl.program_id(0)
    h = tl.program_id(1)
    b = tl.program_id(2)
    g = h // heads_per_group
    i = tl.arange(0, Q)
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    t = c * Q + i

    dA = tl.load(dA_ptr + ((b * H + h) * nchunks + c) * Q + i)
    dt = tl.load(dt_ptr + (b * L + t) * H + h)

    # what comes in from the chunks before
    C = tl.load(C_ptr + ((b * L + t[:, None]) * G + g) * N + n[None, :])
    S = tl.load(states_ptr + ((b * nchunks + c) * H + h) * P * N + n[:, None] + p[None, :] * N)
    acc = tl.dot(C, S) * tl.exp(dA)[:, None]

    # inside the chunk
    cb = tl.load(cb_ptr + ((b * nchunks + c) * G + g) * Q * Q + i[:, None] * Q + i[None, :])
    decay = tl.exp(dA[:, None] - dA[None, :])
    w = tl.where(i[:, None] >= i[None, :], cb * decay * dt[None, :], 0.0)
    x_at = ((b * L + t[:, None]) * H + h) * P + p[None, :]
    x = tl.load(x_ptr + x_at)
    acc += tl.dot(w, x)

    acc += x * tl.load(D_ptr + h)
    tl.store(out_ptr + x_at, acc)


def launch(batch=2, nchunks=3, G=2, heads_per_group=2):
    Q, P, N = 16, 16, 32
    H, L = G * heads_per_group, nchunks * 16
    x = torch.randn(batch, L, H, P, device="cuda")
    dt = torch.rand(batch, L, H, device="cuda")
    dA = -torch.rand(batch, H, nchunks, Q, device="cuda").cumsum(-1)
    C = torch.randn(batch, L, G, N, device="cuda")
    cb = torch.randn(batch, nchunks, G, Q, Q, device="cuda")
    states = torch.randn(batch, nchunks, H, P, N, device="cuda")
    D = torch.randn(H, device="cuda")
    out = torch.empty_like(x)
    chunk_scan_kernel[(nchunks, H, batch)](
        cb, x, out, dt, dA, C, states, D, L, H, G, heads_per_group, nchunks, Q=Q, P=P, N=N
    )
    return out


def reference(x, dt, dA, C, cb, states, D, heads_per_group):
    batch, L, H, P = x.shape
    Cr = C.repeat_interleave(heads_per_group, dim=2).unflatten(1, (-1, 16))  # b c q h n
    cbr = cb.repeat_interleave(heads_per_group, dim=2)  # b c h q k
    xc, dtc = x.unflatten(1, (-1, 16)), dt.unflatten(1, (-1, 16))
    a = dA.transpose(1, 2)  # b c h q
    seg = (a[..., :, None] - a[..., None, :]).exp().tril()
    inner = torch.einsum("bchqk,bckh,bckhp->bcqhp", cbr * seg, dtc, xc)
    outer = torch.einsum("bcqhn,bchpn,bchq->bcqhp", Cr, states, a.exp())
    return (inner + outer + xc * D[:, None]).flatten(1, 2)


TRUTH = "verified"
