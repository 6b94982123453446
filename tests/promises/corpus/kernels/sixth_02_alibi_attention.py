import torch
import triton
import triton.language as tl


@triton.jit
def alibi_fwd(Q, K, V, Slopes, O, B, H, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pid_m, pid_bh = tl.program_id(0), tl.program_id(1)
    slope = tl.load(Slopes + pid_bh // B)
    base = pid_bh * N * D
    om = pid_m * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    q = tl.load(Q + base + om[:, None] * D + od[None, :], mask=om[:, None] < N, other=0.0)
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(0, N, BN):
        on = s + tl.arange(0, BN)
        k = tl.load(K + base + on[:, None] * D + od[None, :], mask=on[:, None] < N, other=0.0)
        v = tl.load(V + base + on[:, None] * D + od[None, :], mask=on[:, None] < N, other=0.0)
        x = tl.dot(q, k.T, input_precision="ieee") * scale - slope * tl.abs(om[:, None] - on[None, :])
        x = tl.where(on[None, :] < N, x, float("-inf"))
        mx = tl.maximum(m, tl.max(x, 1))
        c = tl.exp(m - mx)
        p = tl.exp(x - mx[:, None])
        l = l * c + tl.sum(p, 1)
        acc = acc * c[:, None] + tl.dot(p, v, input_precision="ieee")
        m = mx
    tl.store(O + base + om[:, None] * D + od[None, :], acc / l[:, None], mask=om[:, None] < N)


def launch(B=2, H=3, N=25):
    q = torch.randn(B, H, N, 16)
    k = torch.randn(B, H, N, 16)
    v = torch.randn(B, H, N, 16)
    slopes = torch.rand(H)
    o = torch.empty_like(q)
    alibi_fwd[(triton.cdiv(N, 16), B * H)](q, k, v, slopes, o, B, H, N, 0.25, D=16, BM=16, BN=16)
    return o


def reference(q, k, v, slopes):
    n = q.shape[2]
    t = torch.arange(n)
    gap = (t[:, None] - t[None, :]).abs()
    s = q @ k.transpose(2, 3) * 0.25 - slopes[:, None, None] * gap
    return s.softmax(-1) @ v


TRUTH = "broken"
