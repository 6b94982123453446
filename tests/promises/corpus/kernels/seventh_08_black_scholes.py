"""European call and put by Black and Scholes, with delta; one option for each lane."""
import torch
import triton
import triton.language as tl


@triton.jit
def norm_cdf(x):
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def black_scholes_kernel(S, K, T, call, put, delta, n, rate, vol, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    s = tl.load(S + i, mask=ok, other=1.0)
    k = tl.load(K + i, mask=ok, other=1.0)
    t = tl.load(T + i, mask=ok, other=1.0)
    sd = vol * tl.sqrt(t)
    d1 = (tl.log(s / k) + (rate + 0.5 * vol * vol) * t) / sd
    d2 = d1 - sd
    n1 = norm_cdf(d1)
    c = s * n1 - k * tl.exp(-rate * t) * norm_cdf(d2)
    tl.store(call + i, c, mask=ok)
    # parity: put = call - S + K exp(-rT)
    tl.store(put + i, c - s + k * tl.exp(-rate * t), mask=ok)
    tl.store(delta + i, n1, mask=ok)


def launch(n=200):
    spot = 50.0 + 100.0 * torch.rand(n, device="cuda")
    strike = 50.0 + 100.0 * torch.rand(n, device="cuda")
    expiry = 0.1 + 2.0 * torch.rand(n, device="cuda")
    call, put, delta = torch.empty_like(spot), torch.empty_like(spot), torch.empty_like(spot)
    black_scholes_kernel[(triton.cdiv(n, 128),)](spot, strike, expiry, call, put, delta, n, 0.03, 0.25, BLOCK=128)
    return call, put, delta


def reference(spot, strike, expiry):
    def cdf(x):
        return 0.5 * (1 + torch.erf(x / 2**0.5))

    d1 = (torch.log(spot / strike) + (0.03 + 0.25**2 / 2) * expiry) / (0.25 * expiry.sqrt())
    d2 = d1 - 0.25 * expiry.sqrt()
    discounted = strike * torch.exp(-0.03 * expiry)
    call = spot * cdf(d1) - discounted * cdf(d2)
    put = call - spot + discounted
    return call, put, cdf(d1)


TRUTH = "verified"
