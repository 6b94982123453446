"""Deep embedded clustering's Student-t soft assignment; the lanes of the padded clusters, whose centres load as zero, are summed into the denominator."""
import torch
import triton
import triton.language as tl


@triton.jit
def soft_assign_kernel(z_ptr, mu_ptr, q_ptr, n, k, dim,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    clusters = tl.arange(0, BLOCK_K)
    d2 = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for start in range(0, dim, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        z = tl.load(z_ptr + rows[:, None] * dim + d[None, :],
                    mask=(rows[:, None] < n) & (d[None, :] < dim), other=0.0)
        mu = tl.load(mu_ptr + clusters[:, None] * dim + d[None, :],
                     mask=(clusters[:, None] < k) & (d[None, :] < dim), other=0.0)
        diff = z[:, None, :] - mu[None, :, :]
        d2 += tl.sum(diff * diff, axis=2)
    q = 1.0 / (1.0 + d2)
    q = q / tl.sum(q, axis=1)[:, None]
    tl.store(q_ptr + rows[:, None] * k + clusters[None, :], q,
             mask=(rows[:, None] < n) & (clusters[None, :] < k))


def launch(n=22, k=10, dim=12):
    z = torch.randn(n, dim, device="cuda")
    centres = torch.randn(k, dim, device="cuda")
    q = torch.empty(n, k, device="cuda")
    soft_assign_kernel[(triton.cdiv(n, 8),)](z, centres, q, n, k, dim,
                                             BLOCK_N=8, BLOCK_K=triton.next_power_of_2(k), BLOCK_D=8)
    return q


def reference(z, centres):
    q = 1.0 / (1.0 + (z.unsqueeze(1) - centres).pow(2).sum(2))
    return q / q.sum(1, keepdim=True)

TRUTH = "broken"
