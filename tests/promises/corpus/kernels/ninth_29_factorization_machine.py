"""Factorisation machine: bias, linear terms and all pairs of fields, by the square of the sum."""
import torch
import triton
import triton.language as tl


@triton.jit
def fm_forward_kernel(
    ids_ptr, table_ptr, linear_ptr, bias_ptr, out_ptr,
    F, D, stride_ids, stride_table,
    BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    d_mask = d < D
    s = tl.zeros((BLOCK_D,), dtype=tl.float32)
    sq = tl.zeros((BLOCK_D,), dtype=tl.float32)
    lin = 0.0
    for f in range(0, F):
        i = tl.load(ids_ptr + b * stride_ids + f)
        v = tl.load(table_ptr + i * stride_table + d, mask=d_mask, other=0.0)
        s += v
        sq += v * v
        lin += tl.load(linear_ptr + i)
    pairs = 0.5 * tl.sum(s * s - sq, axis=0)
    tl.store(out_ptr + b, pairs + lin + tl.load(bias_ptr))


def launch(B=9, F=5, V=77, D=11):
    ids = torch.randint(0, V, (B, F), device="cuda")
    table = torch.randn(V, D, device="cuda")
    linear = torch.randn(V, device="cuda")
    bias = torch.zeros(1, device="cuda") + 0.1
    out = torch.empty(B, device="cuda")
    fm_forward_kernel[(B,)](
        ids, table, linear, bias, out, F, D, ids.stride(0), table.stride(0), BLOCK_D=triton.next_power_of_2(D)
    )
    return out


def reference(ids, table, linear, bias):
    v = table[ids]
    pairs = 0.5 * (v.sum(1).square() - v.square().sum(1)).sum(-1)
    return bias + linear[ids].sum(1) + pairs


TRUTH = "verified"
