"""Linear with 2:4 structured sparsity: of each four inputs two have a weight, kept with their places within the four."""
import torch
import triton
import triton.language as tl


@triton.jit
def sparse24_kernel(x_ptr, val_ptr, idx_ptr, bias_ptr, y_ptr, M, N, K,
                    BLOCK_N: tl.constexpr, BLOCK_J: tl.constexpr):
    pid = tl.program_id(0)
    n_blocks = tl.cdiv(N, BLOCK_N)
    m = pid // n_blocks
    n = (pid % n_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = n < N
    kept = K // 2

    acc = tl.load(bias_ptr + n, mask=n_mask, other=0.0).to(tl.float32)
    for j0 in range(0, kept, BLOCK_J):
        j = j0 + tl.arange(0, BLOCK_J)
        mask = n_mask[:, None] & (j[None, :] < kept)
        w = tl.load(val_ptr + n[:, None] * kept + j[None, :], mask=mask, other=0.0)
        place = tl.load(idx_ptr + n[:, None] * kept + j[None, :], mask=mask, other=0)
        x = tl.load(x_ptr + m * K + (j[None, :] // 2) * 4 + place, mask=mask, other=0.0)
        acc += tl.sum(w * x, axis=1)
    tl.store(y_ptr + m * N + n, acc, mask=n_mask)


def launch(M=5, N=24, groups=11):
    K = 4 * groups
    x = torch.randn(M, K, device="cuda")
    values = torch.randn(N, 2 * groups, device="cuda")
    meta = torch.randint(0, 4, (N, 2 * groups), device="cuda", dtype=torch.int32)
    bias = torch.randn(N, device="cuda")
    y = torch.empty(M, N, device="cuda")
    grid = (M * triton.cdiv(N, 16),)
    sparse24_kernel[grid](x, values, meta, bias, y, M, N, K, BLOCK_N=16, BLOCK_J=16)
    return y


def reference(x, values, meta, bias):
    n, kept = values.shape
    which = torch.arange(4, device=x.device)
    one_hot = (meta.unsqueeze(-1) == which).to(values.dtype)                  # N, K/2, 4
    dense = (values.unsqueeze(-1) * one_hot).view(n, kept // 2, 2, 4).sum(2)  # N, K/4, 4
    return torch.nn.functional.linear(x, dense.reshape(n, 2 * kept), bias)

TRUTH = "verified"
