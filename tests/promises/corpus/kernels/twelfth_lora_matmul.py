"""x @ w.T + 2 · (x @ a.T) @ b.T in one pass over K: the rank-16 product is accumulated beside the main one and multiplied in the epilogue."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def lora_kernel(
    x_ptr, w_ptr, a_ptr, b_ptr, out_ptr, M, N, K, scaling,
    R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rr = tl.arange(0, R)
    in_m = rm < M
    in_n = rn < N
    acc = tl.zeros((BM, BN), tl.float32)
    low = tl.zeros((BM, R), tl.float32)
    for start in range(0, K, BK):
        rk = start + tl.arange(0, BK)
        in_k = rk < K
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=in_m[:, None] & in_k[None, :], other=0.0)
        w = tl.load(w_ptr + rn[None, :] * K + rk[:, None], mask=in_n[None, :] & in_k[:, None], other=0.0)
        a = tl.load(a_ptr + rr[None, :] * K + rk[:, None], mask=in_k[:, None], other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
        low += tl.dot(x, a, input_precision="ieee")
    b = tl.load(b_ptr + rn[None, :] * R + rr[:, None], mask=in_n[None, :], other=0.0)
    acc += scaling * tl.dot(low, b, input_precision="ieee")
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc, mask=in_m[:, None] & in_n[None, :])


def launch(m=20, n=45, k=70):
    x = torch.randn(m, k, device="cuda")
    w = torch.randn(n, k, device="cuda")
    a = torch.randn(16, k, device="cuda")
    b = torch.randn(n, 16, device="cuda")
    out = torch.empty(m, n, device="cuda")
    lora_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](x, w, a, b, out, m, n, k, 2.0, R=16, BM=16, BN=32, BK=32)
    return out


def reference(x, w, a, b):
    return F.linear(x, w) + 2.0 * F.linear(F.linear(x, a), b)


TRUTH = "verified"
