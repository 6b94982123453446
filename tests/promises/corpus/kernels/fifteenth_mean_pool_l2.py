"""Sentence-embedding head: mean over the first lengths[b] tokens (2-D tiles in a loop that ends by data), then L2 normalisation of the vector."""
import torch
import triton
import triton.language as tl


@triton.jit
def mean_pool_l2(h_ptr, len_ptr, out_ptr, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0)
    n = tl.load(len_ptr + b)
    d = tl.arange(0, BLOCK_D)
    acc = tl.zeros([BLOCK_D], tl.float32)
    for t0 in range(0, n, BLOCK_T):
        t = t0 + tl.arange(0, BLOCK_T)
        h = tl.load(h_ptr + (b * T + t[:, None]) * D + d[None, :], mask=(t[:, None] < n) & (d[None, :] < D), other=0.0)
        acc += tl.sum(h.to(tl.float32), axis=0)
    mean = acc / n
    norm = tl.sqrt(tl.sum(mean * mean, 0))
    tl.store(out_ptr + b * D + d, mean / tl.maximum(norm, 1e-12), mask=d < D)


def launch(B=4, T=21, D=50):
    hidden = torch.randn(B, T, D, device="cuda", dtype=torch.bfloat16)
    lengths = torch.randint(1, T + 1, (B,), device="cuda")
    out = torch.empty(B, D, device="cuda", dtype=torch.float32)
    mean_pool_l2[(B,)](hidden, lengths, out, T, D, BLOCK_T=8, BLOCK_D=triton.next_power_of_2(D))
    return out


def reference(hidden, lengths):
    mask = torch.arange(hidden.shape[1], device=hidden.device)[None, :] < lengths[:, None]
    s = (hidden.float() * mask[:, :, None]).sum(1)
    return torch.nn.functional.normalize(s / lengths[:, None], dim=-1)
TRUTH = "verified"
