"""Stick-breaking attention, forward: o_i = Σ_{j<i} β_ij Π_{j<k<i} (1 − β_ik) v_j with β = σ(q·k/√d). Key blocks are walked
from the diagonal to the left, with what is left of the stick carried in logarithms."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.where(x < 15.0, tl.log(1 + tl.exp(x)), x)


@triton.jit
def stick_breaking_fwd(
    Q, K, V, O, Rem,
    stride_h, stride_s, seq_len, scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    head = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD_DIM)
    base = head * stride_h
    q = tl.load(Q + base + m[:, None] * stride_s + d[None, :], mask=m[:, None] < seq_len, other=0.0)

    neg_log = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    n_blocks = tl.cdiv((pid_m + 1) * BLOCK_M, BLOCK_N)
    for i in range(0, n_blocks):
        n = (n_blocks - 1 - i) * BLOCK_N + tl.arange(0, BLOCK_N)
        n_mask = n[:, None] < seq_len
        k = tl.load(K + base + n[:, None] * stride_s + d[None, :], mask=n_mask, other=0.0)
        v = tl.load(V + base + n[:, None] * stride_s + d[None, :], mask=n_mask, other=0.0)
        z = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        causal = m[:, None] > n[None, :]
        sp = softplus(z)
        log_om_beta = tl.where(causal, -sp, 0.0)
        total = tl.sum(log_om_beta, axis=1)
        after = total[:, None] - tl.cumsum(log_om_beta, axis=1)
        log_p = z - sp + after + neg_log[:, None]
        p = tl.where(causal, tl.exp(log_p), 0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        neg_log += total
    tl.store(O + base + m[:, None] * stride_s + d[None, :], acc, mask=m[:, None] < seq_len)
    tl.store(Rem + head * seq_len + m, tl.exp(neg_log), mask=m < seq_len)


def launch(heads=3, seq=43):
    q = torch.randn(heads, seq, 16, device="cuda")
    k = torch.randn(heads, seq, 16, device="cuda")
    v = torch.randn(heads, seq, 16, device="cuda")
    o = torch.empty_like(q)
    rem = torch.empty(heads, seq, device="cuda")
    grid = (triton.cdiv(seq, 16), heads)
    stick_breaking_fwd[grid](
        q, k, v, o, rem, q.stride(0), q.stride(1), seq, 1.0 / math.sqrt(16), HEAD_DIM=16, BLOCK_M=16, BLOCK_N=16,
    )
    return o, rem


def reference(q, k, v):
    seq = q.shape[1]
    z = q @ k.transpose(-1, -2) / 4.0
    causal = torch.ones(seq, seq, dtype=torch.bool, device=q.device).tril(-1)
    log_om_beta = -torch.nn.functional.softplus(z).masked_fill(~causal, 0.0)
    after = log_om_beta.flip(-1).cumsum(-1).flip(-1) - log_om_beta
    att = torch.exp(torch.nn.functional.logsigmoid(z) + after).masked_fill(~causal, 0.0)
    return att @ v, torch.exp(log_om_beta.sum(-1))


TRUTH = "verified"
