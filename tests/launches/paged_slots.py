"""Rows that go to slots of a paged cache whose pages are 8 long, as launch functions write it; slot −1 is padding."""

import torch
import triton
import triton.language as tl


@triton.jit
def put(x, slots, cache, stride_page, stride_row, D, PAGE: tl.constexpr, FIRST: tl.constexpr, AHEAD: tl.constexpr):
    t = tl.program_id(0)
    slot = tl.load(slots + t)
    if slot < FIRST:
        return
    d = tl.arange(0, 32)
    row = tl.load(x + t * D + d, mask=d < D)
    place = (slot // PAGE) * stride_page + (slot + AHEAD) % PAGE * stride_row
    tl.store(cache + place + d, row, mask=d < D)


PAGE = 8


def launch_padded(T=6, D=20, pages=4):
    x = torch.randn(T, D, device="cuda")
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda")
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=0, AHEAD=0)
    return cache


def launch_bytes(T=6, D=20, pages=4):
    x = torch.randint(-9, 9, (T, D), device="cuda", dtype=torch.int8)
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda", dtype=torch.int8)
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=0, AHEAD=0)
    return cache


def launch_repeated(T=6, D=20, pages=4):
    x = torch.randn(T, D, device="cuda")
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[0] = 5
    slots[1] = 5
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda")
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=0, AHEAD=0)
    return cache


def launch_beyond(T=6, D=20, pages=4):
    x = torch.randn(T, D, device="cuda")
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[0] = pages * PAGE
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda")
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=0, AHEAD=0)
    return cache


def launch_unmasked(T=6, D=20, pages=4):
    x = torch.randn(T, D, device="cuda")
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda")
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=-1, AHEAD=0)
    return cache


def launch_ahead(T=6, D=20, pages=4):
    x = torch.randn(T, D, device="cuda")
    slots = torch.randperm(pages * PAGE, device="cuda")[:T]
    slots[T - 1] = -1
    cache = torch.zeros(pages, PAGE, D, device="cuda")
    put[(T,)](x, slots, cache, cache.stride(0), cache.stride(1), D, PAGE=PAGE, FIRST=0, AHEAD=1)
    return cache


def put_by(x, slots, cache, spare, rows):
    """The cache with a row for padding behind it, of which as many rows are given back."""
    flat = torch.cat([cache.flatten(0, 1), torch.zeros_like(cache[0, :1])])
    flat[torch.where(slots < 0, spare, slots)] = x
    return flat[:rows].view_as(cache)


def behind(x, slots, cache):
    rows = cache.shape[0] * cache.shape[1]
    return put_by(x, slots, cache, rows, rows)


def in_the_first(x, slots, cache):
    return put_by(x, slots, cache, 0, cache.shape[0] * cache.shape[1])


def copied(x, slots, cache):
    flat = torch.cat([cache.flatten(0, 1), torch.zeros_like(cache[0, :1])])
    rows = cache.shape[0] * cache.shape[1]
    return flat.index_copy(0, torch.where(slots >= 0, slots, rows), x)[:rows].view_as(cache)
