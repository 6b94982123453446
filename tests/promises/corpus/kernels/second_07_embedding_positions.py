"""Token embedding plus learned position embedding."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"BLOCK_D": lambda args: triton.next_power_of_2(args["D"])})
@triton.jit
def embed_kernel(ids_ptr, tok_ptr, pos_ptr, out_ptr, T, D, BLOCK_D: tl.constexpr):
    pid = tl.program_id(0)
    t = pid % T
    token = tl.load(ids_ptr + pid)
    d = tl.arange(0, BLOCK_D)
    m = d < D
    e = tl.load(tok_ptr + token * D + d, mask=m, other=0.0)
    p = tl.load(pos_ptr + t * D + d, mask=m, other=0.0)
    tl.store(out_ptr + pid * D + d, e + p, mask=m)


def launch(B=3, T=6, V=23, D=20, CTX=10):
    ids = torch.randint(0, V, (B, T), device="cuda")
    token_table = torch.randn(V, D, device="cuda")
    position_table = torch.randn(CTX, D, device="cuda")
    assert T <= CTX
    out = torch.empty(B, T, D, device="cuda")
    embed_kernel[(B * T,)](ids, token_table, position_table, out, T, D)
    return out


def reference(ids, token_table, position_table):
    return token_table[ids] + position_table[: ids.shape[1]]


TRUTH = "verified"
