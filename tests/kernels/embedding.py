"""Embedding: row `ids[t]` of a table for each token, in column blocks."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, out_ptr, N, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(ids_ptr + token)
    values = tl.load(table_ptr + row * N + cols, mask=cols < N)
    tl.store(out_ptr + token * N + cols, values, mask=cols < N)


def launch(T=11, V=23, N=50):
    ids = torch.randint(0, V, (T,), device="cuda")
    table = torch.randn(V, N, device="cuda")
    out = torch.empty(T, N, device="cuda")
    embedding_kernel[(T, triton.cdiv(N, 32))](ids, table, out, N, BLOCK=32)
    return out


def reference(ids, table):
    return table[ids]


BROKEN = {
    "mask_le": ("values, mask=cols < N", "values, mask=cols <= N", "race", "fault"),
    "row_of_the_token": ("table_ptr + row * N", "table_ptr + token * N", "value", "value"),
    "wrong_stride": ("out_ptr + token * N", "out_ptr + token * (N - 1)", "race", "value"),
    "missing_column_block": ("triton.cdiv(N, 32)", "N // 32", "coverage", "value"),
    "unmasked_load": ("row * N + cols, mask=cols < N)", "row * N + cols)", "bounds", "fault"),
}
