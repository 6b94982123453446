"""Sums of segments of rows that offsets delimit: out[s] = x[offsets[s]:offsets[s + 1]].sum(0)."""

import torch
import triton
import triton.language as tl


@triton.jit
def segment_sum_kernel(x_ptr, offsets_ptr, out_ptr, D, BLOCK_R: tl.constexpr, BLOCK_D: tl.constexpr):
    seg = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin = tl.load(offsets_ptr + seg)
    end = tl.load(offsets_ptr + seg + 1)
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for r0 in range(begin, end, BLOCK_R):
        r = r0 + tl.arange(0, BLOCK_R)
        mask = (r[:, None] < end) & (d[None, :] < D)
        acc += tl.sum(tl.load(x_ptr + r[:, None] * D + d[None, :], mask=mask, other=0.0), axis=0)
    tl.store(out_ptr + seg * D + d, acc, mask=d < D)


def launch(N=40, S=5, D=20):
    x = torch.randn(N, D, device="cuda")
    cuts = torch.randint(0, N + 1, (S + 1,), device="cuda").sort().values
    offsets = cuts.to(torch.int32)
    out = torch.empty(S, D, device="cuda")
    segment_sum_kernel[(S, triton.cdiv(D, 16))](x, offsets, out, D, BLOCK_R=8, BLOCK_D=16)
    return out


def reference(x, offsets):
    row = torch.arange(x.shape[0], device=x.device)
    member = (row[None, :] >= offsets[:-1, None]) & (row[None, :] < offsets[1:, None])
    return member.to(x.dtype) @ x


TRUTH = "verified"
