import torch
import triton
import triton.language as tl


# GemLite-like: a vector times 4-bit weights, eight to an int32 along K, with a scale and a zero for each group of 32.
@triton.jit
def gemv_w4(x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, N, groups, GROUP: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    ok = n < N
    k_in = tl.arange(0, GROUP)
    acc = tl.zeros([BN], dtype=tl.float32)
    for g in range(0, groups):
        k = g * GROUP + k_in
        x = tl.load(x_ptr + k)
        word = tl.load(packed_ptr + (k // 8)[:, None] * N + n[None, :], mask=ok[None, :], other=0)
        q = (word >> ((k % 8) * 4)[:, None]) & 0xF
        s = tl.load(scales_ptr + g * N + n, mask=ok, other=0.0)
        z = tl.load(zeros_ptr + g * N + n, mask=ok, other=0.0)
        w = (q.to(tl.float32) - z[None, :]) * s[None, :]
        acc += tl.sum(x[:, None] * w, axis=0)
    tl.store(out_ptr + n, acc, mask=ok)


def launch(groups=3, N=40):
    x = torch.randn(groups * 32, device="cuda")
    packed = torch.randint(-(2**31), 2**31 - 1, (groups * 4, N), dtype=torch.int32, device="cuda")
    scales = torch.rand(groups, N, device="cuda") * 0.1
    zeros = torch.rand(groups, N, device="cuda") * 15
    out = torch.empty(N, device="cuda")
    gemv_w4[(triton.cdiv(N, 16),)](x, packed, scales, zeros, out, N, groups, GROUP=32, BN=16)
    return out


def reference(x, packed, scales, zeros):
    shifts = torch.arange(0, 32, 4, device=x.device, dtype=torch.int32)
    q = ((packed[:, None, :] >> shifts[None, :, None]) & 15).reshape(x.shape[0], -1)
    w = (q.float() - zeros.repeat_interleave(32, 0)) * scales.repeat_interleave(32, 0)
    return x @ w


TRUTH = "verified"
