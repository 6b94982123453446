import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "positions are arange(T) + 5 and the table has T rows: the last five read past its end"


@triton.jit
def pos_kernel(table, pos, out, D, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    p = tl.load(pos + t)
    d = tl.arange(0, BLOCK)
    tl.store(out + t * D + d, tl.load(table + p * D + d, mask=d < D), mask=d < D)


def launch(T=9, D=20):
    torch.manual_seed(0)
    table = torch.randn(T, D)
    pos = torch.arange(T) + 5
    out = torch.empty(T, D)
    pos_kernel[(T,)](table, pos, out, D, BLOCK=triton.next_power_of_2(D))
    return out
