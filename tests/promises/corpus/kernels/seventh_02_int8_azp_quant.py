"""Dynamic per-token asymmetric int8 quantisation: scale, zero point and codes of each row."""
import torch
import triton
import triton.language as tl


@triton.jit
def round_half_up(x):
    return tl.floor(x + 0.5)


@triton.jit
def dynamic_scaled_int8_azp_quant(
    x_ptr, q_ptr, scale_ptr, azp_ptr, hidden, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * hidden
    q_ptr += row * hidden
    lo = tl.full([BLOCK], float("inf"), tl.float32)
    hi = tl.full([BLOCK], float("-inf"), tl.float32)
    for i in range(0, hidden, BLOCK):
        c = i + tl.arange(0, BLOCK)
        lo = tl.minimum(lo, tl.load(x_ptr + c, mask=c < hidden, other=float("inf")))
        hi = tl.maximum(hi, tl.load(x_ptr + c, mask=c < hidden, other=float("-inf")))
    row_min = tl.min(lo, axis=0)
    row_max = tl.max(hi, axis=0)
    scale = (row_max - row_min) / 255.0
    azp = round_half_up(-128.0 - row_min / scale)
    tl.store(scale_ptr + row, scale)
    tl.store(azp_ptr + row, azp.to(tl.int32))
    for i in range(0, hidden, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < hidden, other=0.0)
        q = round_half_up(x / scale) + azp
        q = tl.minimum(tl.maximum(q, -128.0), 127.0)
        tl.store(q_ptr + c, q.to(tl.int8), mask=c < hidden)


def launch(tokens=5, hidden=150):
    x = torch.randn(tokens, hidden, device="cuda")
    q = torch.empty(tokens, hidden, dtype=torch.int8, device="cuda")
    scale = torch.empty(tokens, 1, dtype=torch.float32, device="cuda")
    azp = torch.empty(tokens, 1, dtype=torch.int32, device="cuda")
    dynamic_scaled_int8_azp_quant[(tokens,)](x, q, scale, azp, hidden, BLOCK=64)
    return q, scale, azp


def reference(x):
    lo, hi = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    scale = (hi - lo) / 255.0
    azp = torch.floor(-128.0 - lo / scale + 0.5)
    q = (torch.floor(x / scale + 0.5) + azp).clamp(-128, 127)
    return q.to(torch.int8), scale, azp.to(torch.int32)


TRUTH = "verified"
