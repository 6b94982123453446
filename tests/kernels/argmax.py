"""The position of each row's largest element, the first one where several are: (maximum, position) over blocks."""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, row_stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    where = 0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + cols, mask=cols < N, other=-float("inf"))
        value, position = tl.max(x, axis=0, return_indices=True)
        where = tl.where(value > best, start + position, where)
        best = tl.maximum(best, value)
    tl.store(out_ptr + row, where)


def launch(M=7, N=100):
    x = torch.randint(0, 20, (M, N), device="cuda").float()
    out = torch.empty(M, dtype=torch.int32, device="cuda")
    argmax_kernel[(M,)](x, out, x.stride(0), N, BLOCK=32)
    return out


def reference(x):
    return (x == x.max(dim=-1, keepdim=True).values).int().argmax(dim=-1).int()


BROKEN = {
    "last_of_several": ("value > best", "value >= best", "value", "value"),
    "start_forgotten": ("start + position", "position", "value", "value"),
    "best_not_kept": ("best = tl.maximum(best, value)", "best = value", "value", "value"),
    "other_is_zero": ('other=-float("inf")', "other=0.0", "value", "proof"),
    "missing_row": ("argmax_kernel[(M,)]", "argmax_kernel[(M - 1,)]", "coverage", "value"),
}
