# broken: products of two bytes are taken in 8 bits and wrap around (the operands were never widened)
import torch
import triton
import triton.language as tl


@triton.jit
def blend_kernel(a_ptr, b_ptr, alpha_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(a_ptr + i, mask=mask, other=0)
    b = tl.load(b_ptr + i, mask=mask, other=0)
    alpha = tl.load(alpha_ptr + i, mask=mask, other=0)
    mixed = (a * alpha + b * (255 - alpha)).to(tl.int32) // 255
    tl.store(out_ptr + i, mixed.to(tl.uint8), mask=mask)


def launch(H=10, W=20):
    a = torch.randint(0, 256, (H, W), dtype=torch.uint8, device="cuda")
    b = torch.randint(0, 256, (H, W), dtype=torch.uint8, device="cuda")
    alpha = torch.randint(0, 256, (H, W), dtype=torch.uint8, device="cuda")
    out = torch.empty_like(a)
    blend_kernel[(triton.cdiv(H * W, 128),)](a, b, alpha, out, H * W, BLOCK=128)
    return out


def reference(a, b, alpha):
    w = alpha.int()
    return ((a.int() * w + b.int() * (255 - w)) // 255).to(torch.uint8)


TRUTH = "broken"
