"""The two largest of a router's logits in each row, with softmax weights over just these two."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def top2_kernel(logits_ptr, stride, weight_ptr, index_ptr, n_experts, BLOCK_E: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK_E)
    mask = offs < n_experts
    x = tl.load(logits_ptr + row * stride + offs, mask=mask, other=float("-inf"))
    first = tl.max(x, axis=0)
    i1 = tl.argmax(x, axis=0)
    rest = tl.where(offs == i1, float("-inf"), x)
    second = tl.max(rest, axis=0)
    i2 = tl.argmax(rest, axis=0)
    e = tl.exp(second - first)
    tl.store(weight_ptr + row * 2, 1.0 / (1.0 + e))
    tl.store(weight_ptr + row * 2 + 1, e / (1.0 + e))
    tl.store(index_ptr + row * 2, i1.to(tl.int64))
    tl.store(index_ptr + row * 2 + 1, i2.to(tl.int64))


def launch():
    tokens, experts = 45, 12
    logits = torch.randn(tokens, experts)
    weights = torch.empty(tokens, 2)
    index = torch.empty(tokens, 2, dtype=torch.int64)
    top2_kernel[(tokens,)](logits, logits.stride(0), weights, index, experts, BLOCK_E=triton.next_power_of_2(experts))
    return weights, index


def reference(logits):
    first = logits.argmax(-1, keepdim=True)
    second = logits.scatter(-1, first, float("-inf")).argmax(-1, keepdim=True)
    index = torch.cat([first, second], dim=-1)
    return torch.softmax(logits.gather(-1, index), dim=-1), index
