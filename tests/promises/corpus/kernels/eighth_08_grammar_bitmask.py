# Structured output: one bit per vocabulary entry, 32 in a word; what is not allowed becomes -inf.
import torch
import triton
import triton.language as tl


@triton.jit
def bitmask_kernel(logits_ptr, bits_ptr, V, words, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < V
    word = tl.load(bits_ptr + row * words + cols // 32, mask=inside, other=0)
    allowed = ((word >> (cols % 32)) & 1) != 0
    x = tl.load(logits_ptr + row * V + cols, mask=inside, other=0.0)
    tl.store(logits_ptr + row * V + cols, tl.where(allowed, x, -float("inf")), mask=inside)


def launch(B=3, V=150):
    words = (V + 31) // 32
    logits = torch.randn(B, V, device="cuda")
    bits = torch.randint(-2**31, 2**31 - 1, (B, words), dtype=torch.int32, device="cuda")
    bitmask_kernel[(B, triton.cdiv(V, 64))](logits, bits, V, words, BLOCK=64)
    return logits


def reference(logits, bits):
    v = torch.arange(logits.shape[1], device=logits.device)
    bit = (bits[:, v // 32] >> (v % 32)) & 1
    return logits.masked_fill(bit == 0, float("-inf"))


TRUTH = "verified"
