import torch
import triton
import triton.language as tl


@triton.jit
def _swa_sink_fwd(
    Q, K, V, Sinks, Out,
    stride_t, stride_h,
    SEQ, NUM_HEADS: tl.constexpr, WINDOW: tl.constexpr,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    head = tl.program_id(1)

    sink = tl.load(Sinks + head)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    q = tl.load(Q + rows[:, None] * stride_t + head * stride_h + dims[None, :], mask=rows[:, None] < SEQ, other=0.0)

    # the sink is a column without a value: it starts the running maximum and the sum
    m_i = tl.zeros([BLOCK_M], tl.float32) + sink
    l_i = tl.full([BLOCK_M], 1.0, tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)

    for start in range(0, SEQ, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(K + cols[:, None] * stride_t + head * stride_h + dims[None, :], mask=cols[:, None] < SEQ, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * 0.25
        dist = rows[:, None] - cols[None, :]
        s = tl.where((dist >= 0) & (dist < WINDOW) & (cols[None, :] < SEQ), s, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        v = tl.load(V + cols[:, None] * stride_t + head * stride_h + dims[None, :], mask=cols[:, None] < SEQ, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new

    out = acc / l_i[:, None]
    tl.store(Out + rows[:, None] * stride_t + head * stride_h + dims[None, :], out, mask=rows[:, None] < SEQ)


def attention_with_sinks(q, k, v, sinks, window):
    n, h, d = q.shape
    out = torch.empty_like(q)
    _swa_sink_fwd[(triton.cdiv(n, 16), h)](
        q, k, v, sinks, out, q.stride(0), q.stride(1), n,
        NUM_HEADS=h, WINDOW=window, HEAD_DIM=d, BLOCK_M=16, BLOCK_N=32)
    return out


def launch():
    seq = 43
    q = torch.randn(seq, 3, 16)
    k = torch.randn(seq, 3, 16)
    v = torch.randn(seq, 3, 16)
    sinks = torch.randn(3)
    return attention_with_sinks(q, k, v, sinks, 12)


def reference(q, k, v, sinks):
    n = q.shape[0]
    s = torch.einsum("ihd,jhd->hij", q, k) * 0.25
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    s = s.masked_fill(~((j <= i) & (i - j < 12)), float("-inf"))
    s = torch.cat([s, sinks[:, None, None].expand(3, n, 1)], dim=-1)
    p = s.softmax(-1)[..., :-1]
    return torch.einsum("hij,jhd->ihd", p, v)


TRUTH = "verified"
