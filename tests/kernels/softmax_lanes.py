"""Softmax of each row, however long: every lane keeps a maximum and a sum of its own, −∞ and 0 while it saw nothing."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_lanes_kernel(x_ptr, out_ptr, x_row, out_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    z = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other=-float("inf"))
        m_new = tl.maximum(m, x)
        z = tl.where(m_new == float("-inf"), z, z * tl.exp(m - m_new) + tl.exp(x - m_new))
        m = m_new
    largest = tl.max(m, 0)
    total = tl.sum(z * tl.exp(m - largest), 0)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N)
        tl.store(out_ptr + row * out_row + cols, tl.exp(x - largest) / total, mask=cols < N)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_lanes_kernel[(M,)](x, out, x.stride(0), out.stride(0), N, BLOCK=32)
    return out


def reference(x):
    return torch.softmax(x, dim=-1)


BROKEN = {
    "no_guard": ('tl.where(m_new == float("-inf"), z, z * tl.exp(m - m_new) + tl.exp(x - m_new))',
                 "z * tl.exp(m - m_new) + tl.exp(x - m_new)", "value", "proof"),
    "missing_rescale": ("z * tl.exp(m - m_new) +", "z +", "value", "value"),
    "lanes_not_rescaled": ("tl.sum(z * tl.exp(m - largest), 0)", "tl.sum(z, 0)", "value", "value"),
    "guard_forgets": ('tl.where(m_new == float("-inf"), z, z * tl.exp', 'tl.where(m == float("-inf"), z, z * tl.exp',
                      "value", "value"),
    "missing_other": ('mask=cols < N, other=-float("inf")', "mask=cols < N", "undefined", "value"),
}
