import torch
import triton
import triton.language as tl


# linear-chain CRF, one step of the forward algorithm: alpha'[b, j] = emit[b, j] + logsumexp_i(alpha[b, i] + trans[i, j])
@triton.jit
def crf_forward_kernel(alpha_ptr, trans_ptr, emit_ptr, out_ptr, N, BLOCK_I: tl.constexpr, BLOCK_J: tl.constexpr):
    b = tl.program_id(0)
    j = tl.program_id(1) * BLOCK_J + tl.arange(0, BLOCK_J)
    j_ok = j < N
    m = tl.full((BLOCK_J,), -float("inf"), tl.float32)
    l = tl.zeros((BLOCK_J,), tl.float32)
    for start in range(0, N, BLOCK_I):
        i = start + tl.arange(0, BLOCK_I)
        i_ok = i < N
        a = tl.load(alpha_ptr + b * N + i, mask=i_ok, other=-float("inf"))
        tr = tl.load(trans_ptr + i[:, None] * N + j[None, :], mask=i_ok[:, None] & j_ok[None, :], other=0.0)
        s = a[:, None] + tr
        m = tl.maximum(m, tl.max(s, axis=0))
        l += tl.sum(tl.exp(s - m[None, :]), axis=0)
    e = tl.load(emit_ptr + b * N + j, mask=j_ok, other=0.0)
    tl.store(out_ptr + b * N + j, e + m + tl.log(l), mask=j_ok)


def launch(batch=4, tags=70):
    alpha = torch.randn(batch, tags, device="cuda")
    trans = torch.randn(tags, tags, device="cuda")
    emit = torch.randn(batch, tags, device="cuda")
    out = torch.empty_like(alpha)
    crf_forward_kernel[(batch, triton.cdiv(tags, 32))](alpha, trans, emit, out, tags, BLOCK_I=32, BLOCK_J=32)
    return out


def reference(alpha, trans, emit):
    return emit + torch.logsumexp(alpha[:, :, None] + trans[None], dim=1)


TRUTH = "broken"
