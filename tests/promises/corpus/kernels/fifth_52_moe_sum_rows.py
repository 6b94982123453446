"""Sum of the expert outputs of each token, weighted by the router, one program for each pair of token and expert."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def _moe_weighted_sum_kernel(x_ptr, w_ptr, out_ptr, topk, hidden, stride_xm, stride_xk, stride_om, BLOCK: tl.constexpr):
    pair = tl.program_id(0)
    token = pair // topk
    slot = pair % topk
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < hidden
    w = tl.load(w_ptr + token * topk + slot)
    x = tl.load(x_ptr + token * stride_xm + slot * stride_xk + cols, mask=mask, other=0.0)
    acc = tl.load(out_ptr + token * stride_om + cols, mask=mask, other=0.0)
    tl.store(out_ptr + token * stride_om + cols, acc + w * x, mask=mask)


def launch(tokens: int = 7, topk: int = 6, hidden: int = 180):
    expert_out = torch.randn(tokens, topk, hidden)
    router = torch.softmax(torch.randn(tokens, topk), -1)
    out = torch.zeros(tokens, hidden)
    grid = (tokens * topk, triton.cdiv(hidden, 128))
    _moe_weighted_sum_kernel[grid](
        expert_out, router, out, topk, hidden, expert_out.stride(0), expert_out.stride(1), out.stride(0), BLOCK=128
    )
    return out


def reference(expert_out, router):
    return (expert_out * router[:, :, None]).sum(1)
