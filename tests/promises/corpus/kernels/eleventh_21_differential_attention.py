import torch
import triton
import triton.language as tl


# differential attention: (softmax(q1 k1^T) - lambda * softmax(q2 k2^T)) v, causal, both softmaxes online
@triton.jit
def diff_attn_kernel(q1_ptr, k1_ptr, q2_ptr, k2_ptr, v_ptr, lam_ptr, o_ptr, T, H, sm_scale,
                     D: tl.constexpr, DV: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    bh = tl.program_id(1)
    lam = tl.load(lam_ptr + bh % H)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    offs_v = tl.arange(0, DV)
    row_ok = offs_m < T
    q_off = bh * T * D + offs_m[:, None] * D + offs_d[None, :]
    q1 = tl.load(q1_ptr + q_off, mask=row_ok[:, None], other=0.0)
    q2 = tl.load(q2_ptr + q_off, mask=row_ok[:, None], other=0.0)
    m1 = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    m2 = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l1 = tl.zeros((BLOCK_M,), tl.float32)
    l2 = tl.zeros((BLOCK_M,), tl.float32)
    acc1 = tl.zeros((BLOCK_M, DV), tl.float32)
    acc2 = tl.zeros((BLOCK_M, DV), tl.float32)
    hi = tl.minimum((pid_m + 1) * BLOCK_M, T)
    for start in range(0, hi, BLOCK_N):
        n = start + offs_n
        col_ok = n < T
        k_off = bh * T * D + n[None, :] * D + offs_d[:, None]
        k1 = tl.load(k1_ptr + k_off, mask=col_ok[None, :], other=0.0)
        k2 = tl.load(k2_ptr + k_off, mask=col_ok[None, :], other=0.0)
        v = tl.load(v_ptr + bh * T * DV + n[:, None] * DV + offs_v[None, :], mask=col_ok[:, None], other=0.0)
        keep = (offs_m[:, None] >= n[None, :]) & col_ok[None, :]
        s1 = tl.where(keep, tl.dot(q1, k1) * sm_scale, -float("inf"))
        s2 = tl.where(keep, tl.dot(q2, k2) * sm_scale, -float("inf"))
        m1n = tl.maximum(m1, tl.max(s1, 1))
        m2n = tl.maximum(m2, tl.max(s2, 1))
        p1 = tl.exp(s1 - m1n[:, None])
        p2 = tl.exp(s2 - m2n[:, None])
        c1 = tl.exp(m1 - m1n)
        c2 = tl.exp(m2 - m2n)
        l1 = l1 * c1 + tl.sum(p1, 1)
        l2 = l2 * c2 + tl.sum(p2, 1)
        acc1 = acc1 * c1[:, None] + tl.dot(p1, v)
        acc2 = acc2 * c2[:, None] + tl.dot(p2, v)
        m1, m2 = m1n, m2n
    o = acc1 / l1[:, None] - lam * (acc2 / l2[:, None])
    tl.store(o_ptr + bh * T * DV + offs_m[:, None] * DV + offs_v[None, :], o, mask=row_ok[:, None])


def launch(batch=2, heads=2, seq=50):
    q1 = torch.randn(batch, heads, seq, 16, device="cuda")
    q2 = torch.randn(batch, heads, seq, 16, device="cuda")
    k1 = torch.randn(batch, heads, seq, 16, device="cuda")
    k2 = torch.randn(batch, heads, seq, 16, device="cuda")
    v = torch.randn(batch, heads, seq, 32, device="cuda")
    lam = torch.rand(heads, device="cuda")
    o = torch.empty_like(v)
    diff_attn_kernel[(triton.cdiv(seq, 32), batch * heads)](q1, k1, q2, k2, v, lam, o, seq, heads, 0.25,
                                                            D=16, DV=32, BLOCK_M=32, BLOCK_N=16)
    return o


def reference(q1, q2, k1, k2, v, lam):
    seq = q1.shape[2]
    causal = torch.ones(seq, seq, dtype=torch.bool, device=q1.device).tril()
    a1 = torch.softmax((q1 @ k1.transpose(-1, -2) * 0.25).masked_fill(~causal, float("-inf")), -1)
    a2 = torch.softmax((q2 @ k2.transpose(-1, -2) * 0.25).masked_fill(~causal, float("-inf")), -1)
    return (a1 - lam[:, None, None] * a2) @ v


TRUTH = "verified"
