"""Tokens are gathered into expert order, and expert outputs are brought back by the inverse permutation and weighted per token."""
import torch
import triton
import triton.language as tl


@triton.jit
def permute_kernel(x_ptr, order_ptr, sorted_ptr, dim, TOPK: tl.constexpr, BLOCK: tl.constexpr):
    slot = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < dim
    token = tl.load(order_ptr + slot) // TOPK
    x = tl.load(x_ptr + token * dim + cols, mask=mask, other=0.0)
    tl.store(sorted_ptr + slot * dim + cols, x, mask=mask)


@triton.jit
def combine_kernel(y_ptr, inverse_ptr, gate_ptr, out_ptr, dim, TOPK: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < dim
    acc = tl.zeros((BLOCK,), tl.float32)
    for j in tl.static_range(TOPK):
        slot = tl.load(inverse_ptr + token * TOPK + j)
        gate = tl.load(gate_ptr + token * TOPK + j)
        acc += gate * tl.load(y_ptr + slot * dim + cols, mask=mask, other=0.0)
    tl.store(out_ptr + token * dim + cols, acc, mask=mask)


def launch(tokens=11, dim=100, experts=5):
    x = torch.randn(tokens, dim, device="cuda")
    gates = torch.rand(tokens, 2, device="cuda")
    expert = torch.randint(0, experts, (tokens, 2), device="cuda")
    order = torch.argsort(expert.flatten())
    inverse = torch.argsort(order)
    y = torch.randn(2 * tokens, dim, device="cuda")          # what the experts returned
    x_sorted = torch.empty(2 * tokens, dim, device="cuda")
    out = torch.empty(tokens, dim, device="cuda")
    blocks = triton.cdiv(dim, 64)
    permute_kernel[(2 * tokens, blocks)](x, order, x_sorted, dim, TOPK=2, BLOCK=64)
    combine_kernel[(tokens, blocks)](y, inverse, gates, out, dim, TOPK=2, BLOCK=64)
    return x_sorted, out


def reference(x, gates, order, inverse, y):
    x_sorted = x[order // 2]
    picked = y[inverse].view(x.shape[0], 2, x.shape[1])
    return x_sorted, (picked * gates[:, :, None]).sum(1)


TRUTH = "verified"
