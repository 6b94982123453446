"""Sigmoid attention (Ramapuram et al. 2024): no softmax, a bias per head instead; no rescaling is needed in the loop."""
import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_attn_fwd(
    Q, K, V, Bias, Out,
    H, M, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    zh = tl.program_id(1)
    q_desc = tl.make_tensor_descriptor(Q + zh * M * D, shape=[M, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(K + zh * N * D, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(V + zh * N * D, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    o_desc = tl.make_tensor_descriptor(Out + zh * M * D, shape=[M, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    q = q_desc.load([start_m, 0])
    bias = tl.load(Bias + zh % H)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    for start in tl.range(0, N, BLOCK_N):
        k = k_desc.load([start, 0])
        w = tl.sigmoid(tl.dot(q, k.T) * scale + bias)
        acc = tl.dot(w, v_desc.load([start, 0]), acc)  # rows of v behind the end are zero
    o_desc.store([start_m, 0], acc)


def launch(Z=2, H=2, M=21, N=35):
    q = torch.randn(Z, H, M, 32, device="cuda")
    k = torch.randn(Z, H, N, 32, device="cuda")
    v = torch.randn(Z, H, N, 32, device="cuda")
    bias = torch.randn(H, device="cuda")
    out = torch.empty_like(q)
    sigmoid_attn_fwd[(triton.cdiv(M, 16), Z * H)](
        q, k, v, bias, out, H, M, N, 32**-0.5, D=32, BLOCK_M=16, BLOCK_N=16
    )
    return out


def reference(q, k, v, bias):
    scores = torch.einsum("zhmd,zhnd->zhmn", q, k) / 32**0.5 + bias[None, :, None, None]
    return torch.einsum("zhmn,zhnd->zhmd", scores.sigmoid(), v)


TRUTH = "verified"
