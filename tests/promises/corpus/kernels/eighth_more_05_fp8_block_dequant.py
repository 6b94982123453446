import torch
import triton
import triton.language as tl


# TorchAO / DeepSeek: weights in float8 with one scale for each square block.
@triton.jit
def dequant_blocks(w_ptr, scale_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    rows = i * BLOCK + tl.arange(0, BLOCK)
    cols = j * BLOCK + tl.arange(0, BLOCK)
    where = rows[:, None] * N + cols[None, :]
    ok = (rows[:, None] < M) & (cols[None, :] < N)
    w = tl.load(w_ptr + where, mask=ok).to(tl.float32)
    s = tl.load(scale_ptr + i * tl.cdiv(N, BLOCK) + j)
    tl.store(out_ptr + where, w * s, mask=ok)


def launch(M=40, N=50):
    w = torch.randn(M, N, device="cuda").to(torch.float8_e4m3fn)
    scale = torch.rand(triton.cdiv(M, 16), triton.cdiv(N, 16), device="cuda")
    out = torch.empty(M, N, device="cuda")
    dequant_blocks[(triton.cdiv(M, 16), triton.cdiv(N, 16))](w, scale, out, M, N, BLOCK=16)
    return out


def reference(w, scale):
    M, N = w.shape
    full = scale.repeat_interleave(16, 0)[:M].repeat_interleave(16, 1)[:, :N]
    return w.float() * full


TRUTH = "verified"
