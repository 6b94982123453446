"""Products with what lies at a place of each four, as data says (2:4 sparsity), or of each run of a size."""

import torch
import triton
import triton.language as tl


@triton.jit
def placed(x, values, places, out, groups, run, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    g = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    keep = g < groups
    place = tl.load(places + g, mask=keep, other=0)
    at = tl.load(x + row * groups * run + g * run + place, mask=keep)
    tl.store(out + row * groups + g, at * tl.load(values + g, mask=keep), mask=keep)


def launch(rows=3, groups=11):
    x, values, out = torch.randn(rows, 4 * groups), torch.randn(groups), torch.empty(rows, groups)
    places = torch.randint(0, 4, (groups,), dtype=torch.int32)
    placed[(rows, triton.cdiv(groups, 8))](x, values, places, out, groups, 4, BLOCK=8)
    return out


def launch_of_runs(rows=3, groups=11, run=5):
    x, values, out = torch.randn(rows, groups * run), torch.randn(groups), torch.empty(rows, groups)
    places = torch.randint(0, run, (groups,), dtype=torch.int32)
    placed[(rows, triton.cdiv(groups, 8))](x, values, places, out, groups, run, BLOCK=8)
    return out


def launch_beyond(rows=3, groups=11):
    x, values, out = torch.randn(rows, 4 * groups), torch.randn(groups), torch.empty(rows, groups)
    places = torch.full((groups,), 4, dtype=torch.int32)
    placed[(rows, triton.cdiv(groups, 8))](x, values, places, out, groups, 4, BLOCK=8)
    return out


def reference(x, values, places):
    groups = places.shape[0]
    return x.view(x.shape[0], groups, -1)[:, torch.arange(groups), places] * values


def one_further(x, values, places):
    return reference(x, values, (places + 1) % 4)
