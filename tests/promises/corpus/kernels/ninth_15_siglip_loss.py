"""SigLIP's pairwise sigmoid loss, forward, tile by tile without the N x N matrix of logits."""
import torch
import triton
import triton.language as tl


@triton.jit
def siglip_fwd_kernel(
    img_ptr, txt_ptr, t_prime_ptr, bias_ptr, partial_ptr,
    stride_in, stride_id, stride_tn, stride_td,
    N, D,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for d in range(0, D, BLOCK_D):
        mask_d = d + offs_d < D
        a = tl.load(
            img_ptr + offs_m[:, None] * stride_in + (d + offs_d)[None, :] * stride_id,
            mask=(offs_m[:, None] < N) & mask_d[None, :], other=0.0,
        )
        b = tl.load(
            txt_ptr + offs_n[None, :] * stride_tn + (d + offs_d)[:, None] * stride_td,
            mask=(offs_n[None, :] < N) & mask_d[:, None], other=0.0,
        )
        acc = tl.dot(a, b, acc)

    t = tl.exp(tl.load(t_prime_ptr))
    bias = tl.load(bias_ptr)
    z = tl.where(offs_m[:, None] == offs_n[None, :], 1.0, -1.0)
    x = z * (acc * t + bias)
    # log sigmoid(x)
    ls = tl.minimum(x, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(x)))
    ls = tl.where((offs_m[:, None] < N) & (offs_n[None, :] < N), ls, 0.0)
    total = tl.sum(tl.sum(ls, axis=1), axis=0)
    tl.store(partial_ptr + pid_m * tl.num_programs(1) + pid_n, -total)


def launch(N=21, D=45):
    img = torch.nn.functional.normalize(torch.randn(N, D, device="cuda"), dim=-1)
    txt = torch.nn.functional.normalize(torch.randn(N, D, device="cuda"), dim=-1)
    t_prime = torch.full((1,), 2.3025851, device="cuda")
    bias = torch.full((1,), -10.0, device="cuda")
    tiles = triton.cdiv(N, 16)
    partial = torch.empty(tiles, tiles, device="cuda", dtype=torch.float32)
    siglip_fwd_kernel[(tiles, tiles)](
        img, txt, t_prime, bias, partial,
        img.stride(0), img.stride(1), txt.stride(0), txt.stride(1),
        N, D, BLOCK_M=16, BLOCK_N=16, BLOCK_D=32,
    )
    return partial.sum() / N


def reference(img, txt, t_prime, bias):
    n = img.shape[0]
    logits = img @ txt.T * t_prime.exp() + bias
    z = 2 * torch.eye(n, device=img.device) - 1
    return -torch.nn.functional.logsigmoid(z * logits).sum() / n


TRUTH = "verified"
