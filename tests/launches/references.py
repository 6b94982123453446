"""Launches whose references name parameters that are equal in the example, or fold another spelling of one function."""

import torch
import triton
import triton.language as tl


@triton.jit
def shared_kernel(x_ptr, out_ptr, width, GROUP: tl.constexpr):
    row = tl.program_id(0)
    for j in range(width):
        tl.store(out_ptr + row * width + j, tl.load(x_ptr + row // GROUP * width + j))


def launch_shared(heads=2, group=2, width=5):
    x = torch.randn(heads, width)
    out = torch.empty(heads * group, width)
    shared_kernel[(heads * group,)](x, out, width, GROUP=group)
    return out


def shared(x, group):
    return x.repeat_interleave(group, 0)


@triton.jit
def scaled_kernel(x_ptr, out_ptr, factor):
    at = tl.program_id(0)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * factor)


def launch_scaled(length=3, factor=3):
    x = torch.randn(length)
    out = torch.empty_like(x)
    scaled_kernel[(length,)](x, out, factor)
    return out


def scaled(x, factor):
    return x * factor


def scaled_and_one(x, factor):
    return x * factor + 1


@triton.jit
def gradient_kernel(dy_ptr, x_ptr, scale_ptr, out_ptr, rows, width):
    column, scale = tl.program_id(0), tl.load(scale_ptr)
    total = 0.0
    for row in range(rows):
        x, dy = tl.load(x_ptr + row * width + column), tl.load(dy_ptr + row * width + column)
        total += dy * (2 / (1 + tl.exp(-2 * scale * x)) - 1)
    tl.store(out_ptr + column, total)


def launch_gradient(rows=4, width=6):
    dy, x, scale = torch.randn(rows, width), torch.randn(rows, width), torch.randn(1)
    out = torch.empty(width)
    gradient_kernel[(width,)](dy, x, scale, out, rows, width)
    return out


def gradient(dy, x, scale):
    return (dy * torch.tanh(scale * x)).sum(0)


def gradient_by_autograd(dy, x, scale):
    weight = torch.ones_like(x[0], requires_grad=True)
    (found,) = torch.autograd.grad(weight * torch.tanh(scale * x), weight, dy)
    return found


def gradient_of_half(dy, x, scale):
    return (dy * torch.tanh(scale * x / 2)).sum(0)


def gradient_from_one_on(dy, x, scale):
    return (dy * torch.tanh(scale * x))[1:].sum(0)


@triton.jit
def made_kernel(y_ptr, n, LOG: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.log(tl.where(at < 3, 1.0, 0.0)) if LOG else 1.0 / at.to(tl.float32)
    tl.store(y_ptr + at, value, mask=at < n)


@triton.jit
def cancelled_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at, mask=at < n), tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + (y - y), mask=at < n)


def cancelled(n, log):
    x = torch.randn(n)
    y, out = torch.empty_like(x), torch.empty_like(x)
    made_kernel[(1,)](y, n, LOG=log, BLOCK=32)
    cancelled_kernel[(1,)](x, y, out, n, BLOCK=32)
    return out


def launch_inverse(n=20):
    return cancelled(n, False)


def launch_logarithm(n=20):
    return cancelled(n, True)


def untouched(x):
    return x


@triton.jit
def negative_kernel(x_ptr, out_ptr, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < width, other=0.0)
    tl.store(out_ptr + at, -0.48860251190291987 * x + 1.0, mask=at < width)


def launch_negative(width=5):
    x = torch.randn(width)
    out = torch.empty(width)
    negative_kernel[(1,)](x, out, width, BLOCK=triton.next_power_of_2(width))
    return out


def negative(x):
    return 1 - 0.48860251190291987 * x


@triton.jit
def holds_kernel(x_ptr, known_ptr, out_ptr, many, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row)
    found = tl.zeros([BLOCK], dtype=tl.int32)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < width
        hit = (tl.load(known_ptr + at, mask=inside, other=0) == x) & inside
        found = tl.maximum(found, hit.to(tl.int32))
    tl.store(out_ptr + row, tl.max(found, axis=0).to(tl.int1))


def launch_holds(many=6, width=21):
    x = torch.randint(0, 9, (many,))
    known = torch.randint(0, 9, (width,))
    out = torch.empty(many, dtype=torch.bool)
    holds_kernel[(many,)](x, known, out, many, width, BLOCK=8)
    return out


def holds(x, known):
    return torch.isin(x, known)


@triton.jit
def product_kernel(x_ptr, out_ptr, alpha, scale):
    at = tl.program_id(0)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * alpha * scale)


def launch_product(length=3):
    x = torch.randn(length)
    out = torch.empty_like(x)
    product_kernel[(length,)](x, out, 1.6732632423543772, 1.0507009873554805)
    return out


def product(x):
    return x * (1.6732632423543772 * 1.0507009873554805)


def other_product(x):
    return x * (1.6732632423543772 * 1.05)


@triton.jit
def square_kernel(x_ptr, out_ptr, rows, columns):
    row, column = tl.program_id(0), tl.program_id(1)
    tl.store(out_ptr + column * rows + row, tl.load(x_ptr + row * columns + column))


def launch_square(rows=3, columns=3):
    x = torch.randn(rows, columns)
    out = torch.empty_like(x)                                # transposed, so the kernel is right for squares alone
    square_kernel[(rows, columns)](x, out, rows, columns)
    return out


def square(x):
    return x.T


@triton.jit
def rows_kernel(x_ptr, y_ptr, out_ptr, n, WIDTH: tl.constexpr, MORE: tl.constexpr):
    at, width = tl.program_id(0), tl.arange(0, WIDTH)
    x = tl.load(x_ptr + at * WIDTH + width, mask=at * WIDTH + width < n * WIDTH + MORE, other=0.0)
    tl.store(out_ptr + at, tl.sum(x, axis=0) * tl.load(y_ptr + at))


def launch_rows_of_two(n=5):
    x, y = torch.randn(2 * n), torch.randn(n)
    out = torch.empty_like(y)
    rows_kernel[(n,)](x, y, out, n, WIDTH=2, MORE=0)
    return out


def rows_of_two(x, y):
    return x.view(-1, 2).sum(1) * y


def launch_without_the_last(n=5):
    x, y = torch.randn(2 * n - 1), torch.randn(n)
    out = torch.empty_like(y)
    rows_kernel[(n,)](x, y, out, n, WIDTH=2, MORE=-1)
    return out


def without_the_last(x, y):
    return torch.cat([x, x.new_zeros(1)]).view(-1, 2).sum(1) * y


@triton.jit
def first_kernel(x_ptr, y_ptr, out_ptr, m):
    row, column = tl.program_id(0), tl.program_id(1)
    at = row * m + column
    tl.store(out_ptr + at, tl.load(x_ptr + at + 1) + tl.load(x_ptr) * tl.load(y_ptr + at))


def launch_with_one_more(n=4, m=3):
    x, y = torch.randn(n * m + 1), torch.randn(n, m)
    out = torch.empty_like(y)
    first_kernel[(n, m)](x, y, out, m)
    return out


def with_one_more(x, y):
    return x[1:].view_as(y) + x[0] * y


@triton.jit
def grouped_kernel(x_ptr, out_ptr, channels, groups):
    row, channel = tl.program_id(0), tl.program_id(1)
    to = channel % (channels // groups) * groups + channel // (channels // groups)
    tl.store(out_ptr + row * channels + to, tl.load(x_ptr + row * channels + channel))


def launch_grouped(rows=3, channels=15, groups=3):
    x = torch.randn(rows, channels)
    out = torch.empty_like(x)
    grouped_kernel[(rows, channels)](x, out, channels, groups)
    return out


launch_grouped.assume = ["channels % groups == 0"]


def grouped(x, groups):
    return x.view(len(x), groups, -1).transpose(1, 2).flatten(1)


def launch_scaled_if_equal(n=4, k=4):
    x = torch.randn(n)
    out = torch.empty_like(x)
    scaled_kernel[(n,)](x, out, 1 if n == k else 2)
    return out


def launch_scaled_if_twice(n=4, k=8):
    x = torch.randn(n)
    out = torch.empty_like(x)
    scaled_kernel[(n,)](x, out, 1 if k == 2 * n else 2)
    return out


def scaled_once(x):
    return x * 1.0


@triton.jit
def times_kernel(x_ptr, out_ptr, n, k, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * k, mask=at < n)


def launch_times(n=5, k=5):
    x = torch.randn(n)
    out = torch.empty_like(x)
    times_kernel[(triton.cdiv(n, 4),)](x, out, n, k, BLOCK=4)
    return out


def times_its_length(x, n):
    return x * n


@triton.jit
def doubled_kernel(x_ptr, other_ptr, out_ptr):
    at = tl.program_id(0)
    tl.store(out_ptr + at, 2 * tl.load(other_ptr + at) + 0 * tl.load(x_ptr + at))


def launch_named_as_a_part(n=4, m=3):
    x = torch.randn(n * m + 1)
    x_part0 = torch.randn(n, m)
    out = torch.empty_like(x_part0)
    doubled_kernel[(n * m,)](x, x_part0, out)
    return out


def the_other(x, x_part0):
    return 2 * x[:-1].view_as(x_part0) + 0 * x_part0


def the_first(x, x_part0):
    return 2 * x_part0 + 0 * x[:-1].view_as(x_part0)


@triton.jit
def odd_kernel(x_ptr, y_ptr, out_ptr, m):
    row, column = tl.program_id(0), tl.program_id(1)
    x = tl.load(x_ptr + row * (2 * m - 1) + column)
    tl.store(out_ptr + row * m + column, x + tl.load(y_ptr + column))


def launch_odd_rows(n=4, m=3):
    x, y = torch.randn(n, 2 * m - 1), torch.randn(m)
    out = torch.empty(n, m)
    odd_kernel[(n, m)](x, y, out, m)
    return out


def odd_rows(x, y):
    return x.view(-1).view(x.shape)[:, : len(y)] + y


@triton.jit
def nearest_kernel(x_ptr, code_ptr, norm_ptr, out_ptr, codes, width, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * width + at, mask=at < width, other=0.0)
    best, place = float("inf"), 0
    for start in range(0, codes, BLOCK):
        code = start + tl.arange(0, BLOCK)
        inside = code < codes
        here = inside[:, None] & (at < width)[None, :]
        c = tl.load(code_ptr + code[:, None] * width + at[None, :], mask=here, other=0.0)
        far = tl.load(norm_ptr + code, mask=inside, other=float("inf")) - 2.0 * tl.sum(c * x[None, :], axis=1)
        least, where_ = tl.min(far, axis=0), tl.argmin(far, axis=0) + start
        place = tl.where(least < best, where_, place)
        best = tl.where(least < best, least, best)
    tl.store(out_ptr + row, place)


def launch_nearest(rows=5, codes=19, width=6):
    x, code = torch.randn(rows, width), torch.randn(codes, width)
    norm = code.square().sum(1)
    out = torch.empty(rows, dtype=torch.int32)
    nearest_kernel[(rows,)](x, code, norm, out, codes, width, BLOCK=8, WIDTH=8)
    return out


def nearest(x, code):
    return (code.square().sum(1) - 2 * x @ code.T).argmin(1).int()
