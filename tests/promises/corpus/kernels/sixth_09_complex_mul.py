import torch
import triton
import triton.language as tl


@triton.jit
def cmul_conj(a, b, out, power, n, BLOCK: tl.constexpr):
    # interleaved (re, im): out = a * conj(b), power = |a|^2
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    ar = tl.load(a + 2 * i, mask=ok)
    ai = tl.load(a + 2 * i + 1, mask=ok)
    br = tl.load(b + 2 * i, mask=ok)
    bi = tl.load(b + 2 * i + 1, mask=ok)
    tl.store(out + 2 * i, ar * br + ai * bi, mask=ok)
    tl.store(out + 2 * i + 1, ai * br - ar * bi, mask=ok)
    tl.store(power + i, ar * ar + ai * ai, mask=ok)


def cross_spectrum(a, b):
    n = a.shape[0]
    out = torch.empty_like(a)
    power = torch.empty(n)
    cmul_conj[(triton.cdiv(n, 32),)](a, b, out, power, n, BLOCK=32)
    return out, power


def launch():
    n = 77
    spec_a = torch.randn(n, 2)
    spec_b = torch.randn(n, 2)
    return cross_spectrum(spec_a, spec_b)


def reference(spec_a, spec_b):
    ar, ai = spec_a[:, 0], spec_a[:, 1]
    br, bi = spec_b[:, 0], -spec_b[:, 1]
    return torch.stack([ar * br - ai * bi, ar * bi + ai * br], dim=1), ar.square() + ai.square()


TRUTH = "verified"
