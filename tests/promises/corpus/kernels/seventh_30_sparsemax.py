"""Sparsemax (Martins & Astudillo 2016). The rows are sorted by torch, the kernel finds the threshold."""
import torch
import triton
import triton.language as tl


@triton.jit
def _sparsemax_forward_kernel(
    x_ptr, x_stride_row,
    sorted_x_ptr, sorted_x_stride_row,
    o_ptr, o_stride_row,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
):
    pid_row = tl.program_id(0)
    ptr_x = x_ptr + pid_row * x_stride_row
    ptr_sorted = sorted_x_ptr + pid_row * sorted_x_stride_row
    ptr_out = o_ptr + pid_row * o_stride_row

    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    z_sorted = tl.load(ptr_sorted + offs, mask=mask, other=0.0).to(tl.float32)
    z_valid = tl.where(mask, z_sorted, 0.0)
    cssv = tl.cumsum(z_valid, 0)

    r = (offs + 1).to(tl.float32)
    # the support is where 1 + r z_(r) > sum of the r largest
    support = (1.0 + r * z_sorted > cssv) & mask
    k = tl.sum(support.to(tl.int32), 0).to(tl.float32)
    s = tl.sum(tl.where(support, z_sorted, 0.0), 0)
    tau = (s - 1.0) / k

    x = tl.load(ptr_x + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(ptr_out + offs, tl.maximum(x - tau, 0.0), mask=mask)


def launch(rows=6, cols=45):
    x = torch.randn(rows, cols, device="cuda")
    x_sorted = torch.sort(x, dim=-1, descending=True).values
    out = torch.empty_like(x)
    _sparsemax_forward_kernel[(rows,)](
        x, x.stride(0), x_sorted, x_sorted.stride(0), out, out.stride(0), cols,
        BLOCK_SIZE=triton.next_power_of_2(cols), num_warps=8,
    )
    return out


def reference(x):
    z = torch.sort(x, dim=-1, descending=True).values
    r = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    support = 1 + r * z > z.cumsum(-1)
    k = support.sum(-1, keepdim=True)
    tau = ((z * support).sum(-1, keepdim=True) - 1) / k
    return torch.relu(x - tau)


TRUTH = "verified"
