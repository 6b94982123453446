import torch
import triton
import triton.language as tl


@triton.jit
def repetition_kernel(logits_ptr, seen_ptr, penalty_ptr, V, stride_l, stride_s, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < V
    p = tl.load(penalty_ptr + row)
    x = tl.load(logits_ptr + row * stride_l + cols, mask=mask, other=0.0)
    seen = tl.load(seen_ptr + row * stride_s + cols, mask=mask, other=0)
    y = tl.where(seen != 0, tl.where(x > 0, x / p, x * p), x)
    tl.store(logits_ptr + row * stride_l + cols, y, mask=mask)


def launch(B=3, V=300):
    logits = torch.randn(B, V, device="cuda")
    seen = torch.randint(0, 2, (B, V), dtype=torch.int8, device="cuda")
    penalty = torch.rand(B, device="cuda") + 1.0
    grid = (B, triton.cdiv(V, 128))
    repetition_kernel[grid](logits, seen, penalty, V, logits.stride(0), seen.stride(0), BLOCK=128)
    return logits


def reference(logits, seen, penalty):
    p = penalty[:, None]
    return torch.where(seen != 0, torch.where(logits > 0, logits / p, logits * p), logits)


TRUTH = "verified"
