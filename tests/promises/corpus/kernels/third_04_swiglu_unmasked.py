import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def silu_and_mul(gate_up, out, d, BLOCK: tl.constexpr):
    tok = tl.program_id(0).to(tl.int64)
    blk = tl.program_id(1)
    cols = blk * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate_up + tok * 2 * d + cols, mask=cols < d, other=0.0)
    u = tl.load(gate_up + tok * 2 * d + d + cols, mask=cols < d, other=0.0)
    tl.store(out + tok * d + cols, g * tl.sigmoid(g) * u)


def launch(gate_up):
    tokens, two_d = gate_up.shape
    d = two_d // 2
    out = torch.empty((tokens, d), dtype=gate_up.dtype, device=gate_up.device)
    BLOCK = 64
    silu_and_mul[(tokens, triton.cdiv(d, BLOCK))](gate_up, out, d, BLOCK)
    return out


def reference(gate_up):
    gate, up = gate_up.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


def inputs(tokens=5, d=90):
    return (torch.randn(tokens, 2 * d),)
