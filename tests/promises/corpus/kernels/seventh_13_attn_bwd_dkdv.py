"""dK and dV of causal attention: one block of keys for each program, the queries at and below the diagonal in a loop."""
import torch
import triton
import triton.language as tl


@triton.jit
def _attn_bwd_dkdv(
    Q, K, V, DO, LSE, DELTA, DK, DV,
    sm_scale, T,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):
    start_n = tl.program_id(0) * BLOCK_N
    bh = tl.program_id(1)
    base = bh * T * D
    offs_d = tl.arange(0, D)
    offs_n = start_n + tl.arange(0, BLOCK_N)
    kv_at = base + offs_n[:, None] * D + offs_d[None, :]
    k = tl.load(K + kv_at, mask=offs_n[:, None] < T, other=0.0)
    v = tl.load(V + kv_at, mask=offs_n[:, None] < T, other=0.0)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)

    for start_m in range(start_n, T, BLOCK_M):
        offs_m = start_m + tl.arange(0, BLOCK_M)
        live = offs_m < T
        at = base + offs_m[:, None] * D + offs_d[None, :]
        q = tl.load(Q + at, mask=live[:, None], other=0.0)
        do = tl.load(DO + at, mask=live[:, None], other=0.0)
        lse = tl.load(LSE + bh * T + offs_m, mask=live, other=0.0)
        delta = tl.load(DELTA + bh * T + offs_m, mask=live, other=0.0)
        s_t = tl.dot(k, tl.trans(q)) * sm_scale
        keep = (offs_m[None, :] >= offs_n[:, None]) & live[None, :]
        p_t = tl.where(keep, tl.exp(s_t - lse[None, :]), 0.0)
        dv += tl.dot(p_t, do)
        dp_t = tl.dot(v, tl.trans(do))
        ds_t = p_t * (dp_t - delta[None, :])
        dk += tl.dot(ds_t, q)

    tl.store(DK + kv_at, dk * sm_scale, mask=offs_n[:, None] < T)
    tl.store(DV + kv_at, dv, mask=offs_n[:, None] < T)


def launch(B=2, H=2, T=37):
    D = 16
    q = torch.randn(B, H, T, D, device="cuda")
    k = torch.randn(B, H, T, D, device="cuda")
    v = torch.randn(B, H, T, D, device="cuda")
    do = torch.randn(B, H, T, D, device="cuda")
    # what the forward pass left
    scores = (q @ k.transpose(-1, -2)) * 0.25
    causal = torch.ones(T, T, dtype=torch.bool, device="cuda").tril()
    scores = scores.masked_fill(~causal, float("-inf"))
    lse = torch.logsumexp(scores, dim=-1)
    out = torch.softmax(scores, dim=-1) @ v
    delta = (out * do).sum(dim=-1)

    dk = torch.empty_like(k)
    dv = torch.empty_like(v)
    _attn_bwd_dkdv[(triton.cdiv(T, 16), B * H)](
        q, k, v, do, lse, delta, dk, dv, 0.25, T, BLOCK_M=16, BLOCK_N=16, D=D
    )
    return dk, dv


def reference(q, k, v, do):
    T = q.shape[2]
    s = (q @ k.transpose(-1, -2)) * 0.25
    i = torch.arange(T, device=q.device)
    p = torch.softmax(s.masked_fill(i[:, None] < i, float("-inf")), dim=-1)
    dp = do @ v.transpose(-1, -2)
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True))
    return 0.25 * ds.transpose(-1, -2) @ q, p.transpose(-1, -2) @ do


TRUTH = "verified"
