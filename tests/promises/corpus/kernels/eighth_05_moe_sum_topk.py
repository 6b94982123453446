import torch
import triton
import triton.language as tl


@triton.jit
def moe_sum_kernel(x_ptr, w_ptr, out_ptr, D, topk, scale, stride_t, stride_k, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < D
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(topk):
        w = tl.load(w_ptr + token * topk + k)
        x = tl.load(x_ptr + token * stride_t + k * stride_k + cols, mask=mask, other=0.0)
        acc += w * x.to(tl.float32)
    tl.store(out_ptr + token * D + cols, acc * scale, mask=mask)


def launch(T=5, topk=6, D=100):
    x = torch.randn(T, topk, D, device="cuda")
    weights = torch.rand(T, topk, device="cuda")
    out = torch.empty(T, D, device="cuda")
    moe_sum_kernel[(T, triton.cdiv(D, 64))](x, weights, out, D, topk, 2.5, x.stride(0), x.stride(1), BLOCK=64)
    return out


def reference(x, weights):
    return 2.5 * torch.einsum("tkd,tk->td", x, weights)


TRUTH = "verified"
