"""Routers of mixtures of experts: the largest of each row, one after the other."""

import torch
import triton
import triton.language as tl


@triton.jit
def struck_kernel(x_ptr, weight_ptr, place_ptr, width, K: tl.constexpr, BLOCK: tl.constexpr, FLOOR: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + at, mask=at < width, other=-float("inf"))
    p = tl.exp(x - tl.max(x, axis=0))
    left = tl.where(at < width, p / tl.sum(p, axis=0), FLOOR)
    for k in tl.static_range(K):
        place = tl.argmax(left, axis=0)
        tl.store(weight_ptr + row * K + k, tl.max(left, axis=0))
        tl.store(place_ptr + row * K + k, place.to(tl.int64))
        left = tl.where(at == place, FLOOR, left)


def struck_out(x, count, floor):
    rows, width = x.shape
    weight = torch.empty(rows, count)
    place = torch.empty(rows, count, dtype=torch.int64)
    block = triton.next_power_of_2(width)
    struck_kernel[(rows,)](x, weight, place, width, K=count, BLOCK=block, FLOOR=floor)
    return weight, place


def launch_three(rows=5, width=13):
    x = torch.randn(rows, width)
    return struck_out(x, 3, -1.0)


def launch_three_over_a_floor(rows=5, width=13):
    """What is struck out is 0.25, which is more than many elements are."""
    x = torch.randn(rows, width)
    return struck_out(x, 3, 0.25)


def top_three(x):
    return torch.topk(x.softmax(-1), 3)


def last_three(x):
    return torch.topk(x.softmax(-1), 3, largest=False)


def top_three_turned(x):
    weight, place = torch.topk(x.softmax(-1), 3)
    return weight, place.flip(-1)


@triton.jit
def gate_kernel(x_ptr, bias_ptr, weight_ptr, place_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < width
    score = tl.sigmoid(tl.load(x_ptr + row * width + at, mask=mask, other=0.0))
    choice = tl.where(mask, score + tl.load(bias_ptr + at, mask=mask, other=0.0), -float("inf"))
    one = tl.argmax(choice, axis=0)
    two = tl.argmax(tl.where(at == one, -float("inf"), choice), axis=0)
    first = tl.sum(tl.where(at == one, score, 0.0), axis=0)
    second = tl.sum(tl.where(at == two, score, 0.0), axis=0)
    tl.store(weight_ptr + row * 2, first / (first + second))
    tl.store(weight_ptr + row * 2 + 1, second / (first + second))
    tl.store(place_ptr + row * 2, one.to(tl.int32))
    tl.store(place_ptr + row * 2 + 1, two.to(tl.int32))


def launch_gates(rows=6, width=11):
    x = torch.randn(rows, width)
    bias = torch.randn(width)
    weight = torch.empty(rows, 2)
    place = torch.empty(rows, 2, dtype=torch.int32)
    gate_kernel[(rows,)](x, bias, weight, place, width, BLOCK=triton.next_power_of_2(width))
    return weight, place


def gated(x, bias):
    score = x.sigmoid()
    place = torch.topk(score + bias, 2, dim=-1)[1]
    weight = score.gather(1, place)
    return weight / weight.sum(-1, keepdim=True), place.to(torch.int32)


def gated_by_what_was_chosen(x, bias):
    weight, place = torch.topk(x.sigmoid() + bias, 2, dim=-1)
    return weight / weight.sum(-1, keepdim=True), place.to(torch.int32)


@triton.jit
def weigh_kernel(x_ptr, weight_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + at, mask=at < width, other=-float("inf"))
    first = tl.max(x, axis=0)
    rest = tl.where(at == tl.argmax(x, axis=0), -float("inf"), x)
    tl.store(weight_ptr + row, tl.sigmoid(first - tl.max(rest, axis=0)))


def launch_margins(rows=6, width=11):
    x = torch.randn(rows, width)
    weight = torch.empty(rows)
    weigh_kernel[(rows,)](x, weight, width, BLOCK=triton.next_power_of_2(width))
    return weight


def margin(x):
    largest = torch.topk(x, 2)[0]
    return largest.softmax(-1)[:, 0]


def margin_of_sorted(x):
    largest = torch.sort(x, descending=True)[0]
    return torch.sigmoid(largest[:, 0] - largest[:, 1])


def margin_to_the_third(x):
    largest = torch.sort(x, descending=True)[0]
    return torch.sigmoid(largest[:, 0] - largest[:, 2])
