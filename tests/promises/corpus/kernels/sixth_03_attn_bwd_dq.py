import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _bwd_preprocess(O, DO, Delta, N_CTX, BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr):
    off_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = tl.program_id(1)
    off_n = tl.arange(0, HEAD_DIM)
    live = off_m[:, None] < N_CTX
    o = tl.load(O + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :], mask=live, other=0.0)
    do = tl.load(DO + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :], mask=live, other=0.0)
    tl.store(Delta + off_hz * N_CTX + off_m, tl.sum(o * do, axis=1), mask=off_m < N_CTX)


@triton.jit
def _bwd_dq(Q, K, V, DO, L, Delta, DQ, sm_scale, N_CTX,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off = tl.program_id(1) * N_CTX * HEAD_DIM
    d = tl.arange(0, HEAD_DIM)
    in_m = m < N_CTX
    q = tl.load(Q + off + m[:, None] * HEAD_DIM + d[None, :], mask=in_m[:, None], other=0.0)
    do = tl.load(DO + off + m[:, None] * HEAD_DIM + d[None, :], mask=in_m[:, None], other=0.0)
    lse = tl.load(L + tl.program_id(1) * N_CTX + m, mask=in_m, other=0.0)
    delta = tl.load(Delta + tl.program_id(1) * N_CTX + m, mask=in_m, other=0.0)
    dq = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    for start in range(0, N_CTX, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        in_n = n < N_CTX
        kT = tl.load(K + off + n[None, :] * HEAD_DIM + d[:, None], mask=in_n[None, :], other=0.0)
        vT = tl.load(V + off + n[None, :] * HEAD_DIM + d[:, None], mask=in_n[None, :], other=0.0)
        qk = tl.dot(q, kT, input_precision="ieee") * (sm_scale * LOG2E)
        p = tl.where(in_n[None, :], tl.exp2(qk - lse[:, None] * LOG2E), 0.0)
        dp = tl.dot(do, vT, input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dq += tl.dot(ds, tl.trans(kT), input_precision="ieee")
    tl.store(DQ + off + m[:, None] * HEAD_DIM + d[None, :], dq * sm_scale, mask=in_m[:, None])


def attn_backward_dq(q, k, v, o, lse, do, sm_scale):
    BH, N, D = q.shape
    delta = torch.empty(BH, N)
    dq = torch.empty_like(q)
    grid = (triton.cdiv(N, 16), BH)
    _bwd_preprocess[grid](o, do, delta, N, BLOCK_M=16, HEAD_DIM=D)
    _bwd_dq[grid](q, k, v, do, lse, delta, dq, sm_scale, N, BLOCK_M=16, BLOCK_N=32, HEAD_DIM=D)
    return dq


def launch():
    BH, N = 3, 45
    q = torch.randn(BH, N, 16)
    k = torch.randn(BH, N, 16)
    v = torch.randn(BH, N, 16)
    do = torch.randn(BH, N, 16)
    o = torch.randn(BH, N, 16)
    lse = torch.randn(BH, N) + 8.0
    return attn_backward_dq(q, k, v, o, lse, do, 0.25)


def reference(q, k, v, o, lse, do):
    p = ((q @ k.mT) * 0.25 - lse[..., None]).exp()
    ds = p * (do @ v.mT - (o * do).sum(-1, keepdim=True))
    return 0.25 * (ds @ k)


TRUTH = "verified"
