"""Launches whose own body makes examples of others, or whose sizes only the output has; and references for them."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


def scaled(x, s):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(len(x), 32),)](x, out, len(x), s, BLOCK=32)
    return out


def launch_centred(n=100):
    x = torch.randn(n, device="cuda")
    y = x.exp() - x.mean()
    return scaled(y, 2)


def launch_unnamed(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 32),)](x.exp() - x.mean(), out, n, 2, BLOCK=32)
    return out


def launch_masked(n=100):
    x = torch.randn(n, device="cuda")
    y = x.masked_fill(x > 0, float("-inf"))
    return scaled(y, 2)


def launch_in_place(n=100):
    x = torch.randn(n, device="cuda")
    y = x.exp()
    x.mul_(2)
    return scaled(y, 2)


def launch_with_another(n=100):
    x, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    y = x + b
    return scaled(y, 2)


@triton.jit
def barred_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * 2
    tl.debug_barrier()
    tl.store(out + i, value, mask=i < n)


def launch_behind_a_barrier(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    barred_kernel[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32)
    return out


@triton.jit
def flagged_kernel(x, flags, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value, flag = tl.load(x + i, mask=i < n), tl.load(flags + i, mask=i < n)
    tl.store(out + i, tl.where(flag != 0, value, -value), mask=i < n)


def launch_flagged(n=100):
    x, flags = torch.randn(n, device="cuda"), torch.randint(0, 2, (n,), device="cuda")
    out = torch.empty_like(x)
    flagged_kernel[(triton.cdiv(n, 32),)](x, flags, out, n, BLOCK=32)
    return out


def launch_flagged_below(n=100):
    x, flags = torch.randn(n, device="cuda"), torch.randint(-1, 2, (n,), device="cuda")
    out = torch.empty_like(x)
    flagged_kernel[(triton.cdiv(n, 32),)](x, flags, out, n, BLOCK=32)
    return out


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def copied(x):
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(len(x), 32),)](x, out, len(x), BLOCK=32)
    return out


THREE = torch.tensor(3.0)


def launch_quantised(n=100):
    x = torch.randn(n, device="cuda")
    q = (x * 10).to(torch.int8)
    return copied(q)


def launch_drawn_over(n=100):
    x = torch.randn(n, device="cuda")
    y = x * 2
    y.normal_()
    return copied(y)


def launch_scaled_by_a_constant(n=100):
    x = torch.randn(n)
    y = x * 2
    y.mul_(THREE)
    return copied(y)


def launch_each_of_a_list(n=100):
    x = torch.randn(n, device="cuda")
    y = x * 2
    torch._foreach_mul_([y], 3.0)
    return copied(y)


def tripled(x):
    x.mul_(3)


def launch_changed_by_a_helper(n=100):
    x = torch.randn(n, device="cuda")
    y = x * 2
    tripled(x)
    return copied(y)


def launch_short_integers(n=100):
    x = torch.randint(0, 100, (n,), dtype=torch.int8, device="cuda")
    y = x * 5
    return copied(y)


def bits_of_ones(n):
    return torch.ones(n).view(torch.int32)


def launch_bits(n=100):
    x = torch.randint(0, 9, (n,), dtype=torch.int32)
    z = bits_of_ones(len(x))
    return copied(z)


def launch_groups(n=100, groups=5):
    x = torch.randn(n, device="cuda")
    return scaled(x, groups)


def by_what_it_is_made_of(x):
    return 2 * (x.exp() - x.mean())


def by_itself(y):
    return 2 * y


def with_another_sign(x):
    return 2 * (x.exp() + x.mean())


def of_what_it_was(x):
    return 2 * (x / 2).exp()


def of_what_it_became(x):
    return 2 * x.exp()


def without_the_other(x):
    return 2 * x


def by_the_number(x, groups):
    return x * groups


def by_a_default(x, groups=7):
    return groups * x


def by_the_next_number(x, groups):
    return x * (groups + 1)


def by_a_number_of_its_own(x, parts):
    return x * parts


def where_above_zero(x, flags):
    return torch.where(flags > 0, x, -x)


def where_above_one(x, flags):
    return torch.where(flags > 1, x, -x)


def ten_times(x):
    return 10 * x


def twice(x):
    return 2 * x


def five_times(x):
    return 5 * x.long()


def ones(x):
    return torch.ones_like(x)


def by_its_mask(x):
    return 2 * x.masked_fill(x > 0, float("-inf"))


@triton.jit
def divide_kernel(x, count, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) / tl.load(count), mask=i < n)


def divided(x, count):
    out = torch.empty_like(x)
    divide_kernel[(triton.cdiv(len(x), 32),)](x, count, out, len(x), BLOCK=32)
    return out


def launch_counted(n=100):
    x, labels = torch.randn(n, device="cuda"), torch.randint(0, 9, (n,), device="cuda")
    labels[2] = -100
    return divided(x, (labels != -100).sum())


def launch_counted_before(n=100):
    x, labels = torch.randn(n, device="cuda"), torch.randint(0, 9, (n,), device="cuda")
    count = (labels != -100).sum()
    labels[2] = -100
    return divided(x, count)


def launch_counted_twice(n=100):
    x, labels = torch.randn(n, device="cuda"), torch.randint(0, 9, (n,), device="cuda")
    count = (labels != -100).sum()
    count += (labels == 3).sum()
    return divided(x, count)


def by_the_count(x, labels):
    return x / (labels != -100).sum()


def by_the_count_and_autograd(x, labels):
    x = x.detach().requires_grad_()
    return torch.autograd.grad((x * x).sum() / 2 / (labels != -100).sum(), x)[0]


def by_the_count_of_all_and_autograd(x, labels):
    x = x.detach().requires_grad_()
    return torch.autograd.grad((x * x).sum() / 2 / (labels != -99).sum(), x)[0]


def by_both_counts(x, labels):
    return x / ((labels != -100).sum() + (labels == 3).sum())


def how_many(labels):
    return (labels != -100).sum()


def launch_counted_by_a_helper(n=100):
    x, labels = torch.randn(n, device="cuda"), torch.randint(0, 9, (n,), device="cuda")
    count = how_many(labels)
    labels[2] = -100
    return divided(x, count)


def launch_counted_by_a_helper_after(n=100):
    x, labels = torch.randn(n, device="cuda"), torch.randint(0, 9, (n,), device="cuda")
    labels[2] = -100
    return divided(x, how_many(labels))
