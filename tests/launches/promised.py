"""Launches whose kernels are right only under conditions: on data, on sizes, on the device, on hints. Of each kind an
honest one, that is verified with its need, and one that lies. A function `launch_…` runs each."""

import torch
import triton
import triton.language as tl

# ------------------------------------------------------------------------------------------------ indices that are data


@triton.jit
def picked_kernel(x_ptr, labels_ptr, out_ptr, n, V, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + i * V + label, mask=i < n, other=0.0), mask=i < n)


def picked(x, labels):
    n, V = x.shape
    out = torch.empty(n, device=x.device)
    picked_kernel[(triton.cdiv(n, 32),)](x, labels, out, n, V, BLOCK=32)
    return out


def launch_picked(n=37, V=11):
    """Labels in range."""
    x = torch.randn(n, V, device="cuda")
    labels = torch.randint(0, V, (n,), device="cuda")
    return picked(x, labels)


def launch_picked_ignored(n=37, V=11):
    """A label that says "ignore me", as losses have it."""
    x = torch.randn(n, V, device="cuda")
    labels = torch.randint(0, V, (n,), device="cuda")
    labels[3] = -100
    return picked(x, labels)


def launch_picked_ignored_late(n=37, V=11):
    """The same where it leads to another row of the same tensor."""
    x = torch.randn(n, V, device="cuda")
    labels = torch.randint(0, V, (n,), device="cuda")
    labels[20] = -100
    return picked(x, labels)


def reference_picked(x, labels):
    return x.gather(1, labels[:, None])[:, 0]


def launch_picked_one_too_far(n=37, V=11):
    x = torch.randn(n, V, device="cuda")
    labels = torch.randint(0, V, (n,), device="cuda")
    labels[-1] = V
    return picked(x, labels)


@triton.jit
def ignoring_kernel(x_ptr, labels_ptr, out_ptr, V, IGNORED: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    if label == IGNORED:
        tl.store(out_ptr + row, 0.0)
    else:
        tl.store(out_ptr + row, tl.load(x_ptr + row * V + label))


@triton.jit
def masked_kernel(x_ptr, labels_ptr, out_ptr, V, IGNORED: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    tl.store(out_ptr + row, tl.load(x_ptr + row * V + label, mask=label != IGNORED, other=0.0))


def ignoring(kernel, number, n, V):
    x = torch.randn(n, V, device="cuda")
    labels = torch.randint(0, V, (n,), device="cuda")
    labels[3] = number
    out = torch.empty(n, device="cuda")
    kernel[(n,)](x, labels, out, V, IGNORED=-100)
    return out


def launch_ignoring(n=37, V=11):
    """A kernel that leaves out what the labels say to ignore."""
    return ignoring(ignoring_kernel, -100, n, V)


def launch_ignoring_by_a_mask(n=37, V=11):
    return ignoring(masked_kernel, -100, n, V)


def launch_ignoring_another(n=37, V=11):
    """The labels say it with another number."""
    return ignoring(ignoring_kernel, -1, n, V)


@triton.jit
def looked_up_kernel(x_ptr, at_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(at_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n, other=0.0), mask=i < n)


def looked_up(x, at):
    n = at.shape[0]
    out = torch.empty(n, device=x.device)
    looked_up_kernel[(triton.cdiv(n, 32),)](x, at, out, n, BLOCK=32)
    return out


def made_in_order(x):
    return looked_up(x, torch.arange(x.shape[0], device=x.device))


def made_behind(x):
    return looked_up(x, torch.arange(x.shape[0], device=x.device) + 5)


def made_by_sorting(x):
    return looked_up(x, torch.sort(x).indices)


def made_by_clamping(x, raw):
    return looked_up(x, raw.clamp(0, x.shape[0] - 1))


def made_by_a_remainder(x, raw):
    return looked_up(x, raw % x.shape[0])


def made_by_counting(x, steps):
    return looked_up(x, torch.cumsum(steps, 0) - 1)


def made_by_shuffling(x):
    return looked_up(x, torch.randperm(x.shape[0], device=x.device))


def made_by_drawing(x):
    return looked_up(x, torch.randint(0, 2 * x.shape[0], (x.shape[0],), device=x.device))


def the_largest(x):
    return looked_up(x.view(-1), torch.argmax(x, dim=1))


def launch_largest(m=29, n=23):
    """Columns of the largest elements, looked up in a row that is longer."""
    return the_largest(torch.randn(m, n, device="cuda"))


def launch_shuffled(n=37):
    return made_by_shuffling(torch.randn(n, device="cuda"))


def launch_drawn_too_far(n=37):
    """Positions that are drawn by the wrapper, from twice as many as there are."""
    return made_by_drawing(torch.randn(n, device="cuda"))


def launch_flat(m=7, n=11):
    """Positions in a matrix that is taken as one row."""
    x = torch.randn(m, n, device="cuda")
    at = torch.randint(0, m * n, (40,), device="cuda")
    return looked_up(x, at)


def launch_in_order(n=37):
    """Positions that the wrapper counts: in range for every size."""
    return made_in_order(torch.randn(n, device="cuda"))


def launch_behind(n=37):
    """Positions that begin at 5."""
    return made_behind(torch.randn(n, device="cuda"))


def launch_sorted(n=37):
    return made_by_sorting(torch.randn(n, device="cuda"))


def launch_clamped(n=37):
    return made_by_clamping(torch.randn(n, device="cuda"), torch.randint(-50, 50, (n,), device="cuda"))


def launch_modulo(n=37):
    return made_by_a_remainder(torch.randn(n, device="cuda"), torch.randint(0, 500, (n,), device="cuda"))


def launch_counted(n=37):
    """A running count: that it stays in range is a matter of what is counted."""
    return made_by_counting(torch.randn(n, device="cuda"), torch.ones(n, dtype=torch.int64, device="cuda"))


def launch_counted_too_far(n=37):
    return made_by_counting(torch.randn(n, device="cuda"), torch.full((n,), 2, dtype=torch.int64, device="cuda"))


@triton.jit
def positions_kernel(at_ptr, n, first, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(at_ptr + i, i + first, mask=i < n)


def by_two_kernels(x, first):
    n = x.shape[0]
    at = torch.empty(n, dtype=torch.int32, device=x.device)
    positions_kernel[(triton.cdiv(n, 32),)](at, n, first, BLOCK=32)
    return looked_up(x, at)


def launch_two_kernels(n=37):
    """Positions that an earlier kernel made."""
    return by_two_kernels(torch.randn(n, device="cuda"), 0)


def launch_two_kernels_behind(n=37):
    return by_two_kernels(torch.randn(n, device="cuda"), 1)


def made_shorter(x):
    return looked_up(x, torch.arange(x.shape[0], device=x.device).to(torch.int8))


def made_in_float16(x):
    return looked_up(x, torch.arange(x.shape[0], device=x.device).to(torch.float16).to(torch.int64))


def launch_made_shorter(n=37):
    """Positions that wrap around where there are more than 127."""
    return made_shorter(torch.randn(n, device="cuda"))


def launch_made_shorter_and_wrapped(n=300):
    return made_shorter(torch.randn(n, device="cuda"))


def launch_made_in_float16(n=37):
    """Positions that the host rounds where there are more than 2048."""
    return made_in_float16(torch.randn(n, device="cuda"))
