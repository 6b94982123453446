"""Full (bidirectional) attention, as in an encoder."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def flash_fwd(Q, K, V, O, qk_scale, Nq, Nk,
              sq_h, sq_n, sk_h, sk_n, sv_h, sv_n, so_h, so_n,
              D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + head * sq_h + offs_m[:, None] * sq_n + offs_d[None, :], mask=offs_m[:, None] < Nq, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for n in range(0, Nk, BLOCK_N):
        kv = n + offs_n
        k = tl.load(K + head * sk_h + kv[:, None] * sk_n + offs_d[None, :], mask=kv[:, None] < Nk, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * qk_scale
        m_ij = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_ij[:, None])
        alpha = tl.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + head * sv_h + kv[:, None] * sv_n + offs_d[None, :], mask=kv[:, None] < Nk, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m_i = m_ij
    acc /= l_i[:, None]
    tl.store(O + head * so_h + offs_m[:, None] * so_n + offs_d[None, :], acc, mask=offs_m[:, None] < Nq)


def launch(q, k, v):
    H, Nq, D = q.shape
    Nk = k.shape[1]
    o = torch.empty_like(q)
    flash_fwd[(triton.cdiv(Nq, 16), H)](
        q, k, v, o, D ** -0.5 * 1.4426950408889634, Nq, Nk,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1),
        D=D, BLOCK_M=16, BLOCK_N=32)
    return o


def reference(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def inputs(H=3, Nq=20, Nk=45, D=16):
    return torch.randn(H, Nq, D), torch.randn(H, Nk, D), torch.randn(H, Nk, D)
