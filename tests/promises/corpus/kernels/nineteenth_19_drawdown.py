"""Running drawdown of price curves in blocks of time, for backtests; the high-water mark starts at 0.0, not at minus infinity, which log prices below zero never reach."""
import torch
import triton
import triton.language as tl


@triton.jit
def _max(a, b):
    return tl.maximum(a, b)


@triton.jit
def drawdown_kernel(price_ptr, dd_ptr, worst_ptr, T, stride_s, BLOCK_T: tl.constexpr):
    series = tl.program_id(0)
    price_ptr += series * stride_s
    dd_ptr += series * T

    high = 0.0
    worst = 0.0
    for t0 in range(0, T, BLOCK_T):
        t = t0 + tl.arange(0, BLOCK_T)
        p = tl.load(price_ptr + t, mask=t < T, other=float("-inf"))
        hwm = tl.maximum(tl.associative_scan(p, 0, _max), high)
        dd = p - hwm
        tl.store(dd_ptr + t, dd, mask=t < T)
        worst = tl.minimum(worst, tl.min(tl.where(t < T, dd, 0.0), axis=0))
        high = tl.maximum(high, tl.max(p, axis=0))
    tl.store(worst_ptr + series, worst)


def launch(series=5, T=70):
    log_price = torch.randn(series, T, device="cuda")
    drawdown = torch.empty(series, T, device="cuda")
    worst = torch.empty(series, device="cuda")
    drawdown_kernel[(series,)](log_price, drawdown, worst, T, log_price.stride(0), BLOCK_T=32)
    return drawdown, worst


def reference(log_price):
    drawdown = log_price - torch.cummax(log_price, dim=1).values
    return drawdown, drawdown.amin(dim=1)

TRUTH = "broken"
