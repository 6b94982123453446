import torch
import triton
import triton.language as tl


@triton.jit
def _rotary_kernel(
    Q, K, Cos, Sin,
    stride_qbs, stride_qh, stride_qd,
    stride_kbs, stride_kh, stride_kd,
    stride_cosbs, stride_cosd,
    stride_sinbs, stride_sind,
    max_total_len,
    HEAD_Q, HEAD_K,
    BLOCK_HEAD: tl.constexpr,
    BLOCK_SEQ: tl.constexpr,
    BLOCK_DMODEL: tl.constexpr,
):
    cur_head_index = tl.program_id(0)
    cur_seq_index = tl.program_id(1)

    cur_head_range = cur_head_index * BLOCK_HEAD + tl.arange(0, BLOCK_HEAD)
    cur_seq_range = cur_seq_index * BLOCK_SEQ + tl.arange(0, BLOCK_SEQ)

    dim_range0 = tl.arange(0, BLOCK_DMODEL // 2)
    dim_range1 = tl.arange(BLOCK_DMODEL // 2, BLOCK_DMODEL)

    off_cs = cur_seq_range[:, None, None] * stride_cosbs + dim_range0[None, None, :] * stride_cosd
    seq_ok = cur_seq_range[:, None, None] < max_total_len
    cos = tl.load(Cos + off_cs, mask=seq_ok, other=0.0)
    sin = tl.load(Sin + cur_seq_range[:, None, None] * stride_sinbs + dim_range0[None, None, :] * stride_sind, mask=seq_ok, other=0.0)

    q_ok = seq_ok & (cur_head_range[None, :, None] < HEAD_Q)
    off_q0 = cur_seq_range[:, None, None] * stride_qbs + cur_head_range[None, :, None] * stride_qh + dim_range0[None, None, :] * stride_qd
    off_q1 = cur_seq_range[:, None, None] * stride_qbs + cur_head_range[None, :, None] * stride_qh + dim_range1[None, None, :] * stride_qd
    q0 = tl.load(Q + off_q0, mask=q_ok, other=0.0)
    q1 = tl.load(Q + off_q1, mask=q_ok, other=0.0)
    tl.store(Q + off_q0, q0 * cos - q1 * sin, mask=q_ok)
    tl.store(Q + off_q1, q0 * sin + q1 * cos, mask=q_ok)

    k_ok = seq_ok & (cur_head_range[None, :, None] < HEAD_K)
    off_k0 = cur_seq_range[:, None, None] * stride_kbs + cur_head_range[None, :, None] * stride_kh + dim_range0[None, None, :] * stride_kd
    off_k1 = cur_seq_range[:, None, None] * stride_kbs + cur_head_range[None, :, None] * stride_kh + dim_range1[None, None, :] * stride_kd
    k0 = tl.load(K + off_k0, mask=k_ok, other=0.0)
    k1 = tl.load(K + off_k1, mask=k_ok, other=0.0)
    tl.store(K + off_k0, k0 * cos - k1 * sin, mask=k_ok)
    tl.store(K + off_k1, k0 * sin + k1 * cos, mask=k_ok)
    return


def rotary_emb_fwd(q, k, cos, sin):
    total_len, head_num_q, head_dim = q.shape
    head_num_k = k.shape[1]
    BLOCK_SEQ, BLOCK_HEAD = 16, 4
    grid = (triton.cdiv(max(head_num_q, head_num_k), BLOCK_HEAD), triton.cdiv(total_len, BLOCK_SEQ))
    _rotary_kernel[grid](
        q, k, cos, sin,
        q.stride(0), q.stride(1), q.stride(2),
        k.stride(0), k.stride(1), k.stride(2),
        cos.stride(0), cos.stride(1), sin.stride(0), sin.stride(1),
        total_len, head_num_q, head_num_k,
        BLOCK_HEAD=BLOCK_HEAD, BLOCK_SEQ=BLOCK_SEQ, BLOCK_DMODEL=head_dim,
    )


def launch(total_len=18, heads_q=6, heads_k=2):
    q = torch.randn(total_len, heads_q, 16)
    k = torch.randn(total_len, heads_k, 16)
    cos = torch.randn(total_len, 8)
    sin = torch.randn(total_len, 8)
    rotary_emb_fwd(q, k, cos, sin)
    return q, k


def reference(q, k, cos, sin):
    c, s = cos[:, None, :], sin[:, None, :]

    def rot(x):
        a, b = x[..., :8], x[..., 8:]
        return torch.cat((a * c - b * s, a * s + b * c), dim=-1)

    return rot(q), rot(k)


TRUTH = "verified"
