"""Heavy-hitter scores for KV-cache eviction (H2O): how much attention each key gets over all causal queries, from the saved log-sum-exp."""
import torch
import triton
import triton.language as tl


@triton.jit
def _key_mass_kernel(q_ptr, k_ptr, lse_ptr, out_ptr, T, scale,
                     HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1)
    start_n = tl.program_id(0) * BLOCK_N
    offs_n = start_n + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q_ptr += head * T * HEAD_DIM
    k_ptr += head * T * HEAD_DIM

    k = tl.load(k_ptr + offs_n[:, None] * HEAD_DIM + offs_d[None, :], mask=offs_n[:, None] < T, other=0.0)
    mass = tl.zeros([BLOCK_N], dtype=tl.float32)
    # queries before the first key of the block see none of its keys
    for start_m in range(start_n, T, BLOCK_M):
        offs_m = start_m + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + offs_m[:, None] * HEAD_DIM + offs_d[None, :], mask=offs_m[:, None] < T, other=0.0)
        lse = tl.load(lse_ptr + head * T + offs_m, mask=offs_m < T, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.exp(s - lse[:, None])
        p = tl.where((offs_m[:, None] >= offs_n[None, :]) & (offs_m[:, None] < T), p, 0.0)
        mass += tl.sum(p, 0)
    tl.store(out_ptr + head * T + offs_n, mass, mask=offs_n < T)


def launch(H=2, T=40):
    q = torch.randn(H, T, 16, device="cuda")
    k = torch.randn(H, T, 16, device="cuda")
    scale = 0.25
    causal = torch.ones(T, T, dtype=torch.bool, device="cuda").tril()
    scores = (q @ k.transpose(1, 2) * scale).masked_fill(~causal, float("-inf"))
    lse = torch.logsumexp(scores, dim=-1)
    mass = torch.empty(H, T, device="cuda")
    _key_mass_kernel[(triton.cdiv(T, 16), H)](q, k, lse, mass, T, scale, HEAD_DIM=16, BLOCK_M=16, BLOCK_N=16)
    return mass


def reference(q, k):
    T = q.shape[1]
    scores = torch.einsum("hmd,hnd->hmn", q, k) / 4
    scores = scores + torch.full((T, T), float("-inf"), device=q.device).triu(1)
    return scores.softmax(-1).sum(1)

TRUTH = "verified"
