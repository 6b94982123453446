"""Launches by autotuners, which run a kernel many times before its result is looked at. A function `launch_…` runs
each."""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})]


def zero_out(arguments):
    arguments["out_ptr"].zero_()


def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.load(out_ptr + i, mask=i < n) + x, mask=i < n)


add_plain = triton.autotune(CONFIGS, key=["n"])(triton.jit(add_kernel))
add_restored = triton.autotune(CONFIGS, key=["n"], restore_value=["out_ptr"])(triton.jit(add_kernel))
add_reset = triton.autotune(CONFIGS, key=["n"], reset_to_zero=["out_ptr"])(triton.jit(add_kernel))
add_alone = triton.autotune(CONFIGS[:1], key=["n"])(triton.jit(add_kernel))


def add(kernel, n, out):
    x = torch.randn(n, device="cuda")
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


def launch_added_again(n=1000):
    """Added to in place by a tuner that puts nothing back."""
    return add(add_plain, n, torch.randn(n, device="cuda"))


def launch_added_to_zeros_again(n=1000):
    return add(add_plain, n, torch.zeros(n, device="cuda"))


def launch_added_and_restored(n=1000):
    return add(add_restored, n, torch.randn(n, device="cuda"))


def launch_added_to_what_is_reset(n=1000):
    """Reset to zero between runs, and zeros before."""
    return add(add_reset, n, torch.zeros(n, device="cuda"))


def launch_added_to_what_is_reset_and_was_not_zero(n=1000):
    """What was there is lost where the tuner runs, and only there."""
    return add(add_reset, n, torch.ones(n, device="cuda"))


def launch_added_by_one_configuration(n=1000):
    """A tuner with one configuration has nothing to compare."""
    return add(add_alone, n, torch.randn(n, device="cuda"))


# -------------------------------------------------------------------------------------------------------------- atomics


def sums_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))


HOOKED = [triton.Config({"BLOCK": b}, pre_hook=zero_out) for b in (64, 128)]
HALF_HOOKED = [triton.Config({"BLOCK": 64}, pre_hook=zero_out), triton.Config({"BLOCK": 128})]
sums_plain = triton.autotune(CONFIGS, key=["n"])(triton.jit(sums_kernel))
sums_hooked = triton.autotune(HOOKED, key=["n"])(triton.jit(sums_kernel))
sums_half_hooked = triton.autotune(HALF_HOOKED, key=["n"])(triton.jit(sums_kernel))
sums_reset = triton.autotune(CONFIGS, key=["n"], reset_to_zero=["out_ptr"])(triton.jit(sums_kernel))


def summed(kernel, n, out):
    x = torch.randn(n, device="cuda")
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


def launch_sums_again(n=1000):
    return summed(sums_plain, n, torch.zeros(1, device="cuda"))


def launch_sums_hooked(n=1000):
    """Each configuration's hook makes zeros of what nobody has written to."""
    return summed(sums_hooked, n, torch.empty(1, device="cuda"))


def launch_sums_half_hooked(n=1000):
    """Only one of the configurations makes zeros."""
    return summed(sums_half_hooked, n, torch.empty(1, device="cuda"))


def launch_sums_reset(n=1000):
    return summed(sums_reset, n, torch.zeros(1, device="cuda"))


def launch_sums_reset_once(n=1000):
    """Reset by the tuner only, which runs for the first of several calls."""
    return summed(sums_reset, n, torch.empty(1, device="cuda"))


# --------------------------------------------------------------------------------------------------- what runs as often


def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


double = triton.autotune(CONFIGS, key=["n"])(triton.jit(double_kernel))


def launch_doubled(n=1000):
    """Run again, it writes the same."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


def launch_doubled_in_place(n=1000):
    """Input and output are one tensor, doubled at each run."""
    x = torch.randn(n, device="cuda")
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, x, n)
    return x


def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


relu = triton.autotune(CONFIGS, key=["n"])(triton.jit(relu_kernel))


def launch_relu_in_place(n=1000):
    """In place, but the second run changes nothing."""
    x = torch.randn(n, device="cuda")
    relu[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, x, n)
    return x


@triton.autotune(CONFIGS, key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def even_kernel(x_ptr, out_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + i, tl.load(x_ptr + i) * 2.0)
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def launch_even(n=1024):
    """Whether a mask is there is chosen by a heuristic."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    even_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


def clamp_and_double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * 2.0, mask=i < n)
    tl.store(x_ptr + i, tl.maximum(x, 0.0), mask=i < n)


clamp_and_double = triton.autotune(CONFIGS, key=["n"])(triton.jit(clamp_and_double_kernel))


def launch_clamped_and_doubled(n=1000):
    """What is clamped in place stays as it is, and what is made of it does not."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    clamp_and_double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out
