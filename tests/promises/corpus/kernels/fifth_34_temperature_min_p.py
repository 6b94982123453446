"""Temperature, then min-p, both in place on the logits: two launches of the sampler."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _temperature_kernel(logits_ptr, logits_stride, temperature_ptr, vocab_size, BLOCK_SIZE: tl.constexpr):
    batch_idx = tl.program_id(0)
    temperature = tl.load(temperature_ptr + batch_idx).to(tl.float32)
    if temperature == 0.0 or temperature == 1.0:
        return
    block = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + batch_idx * logits_stride + block, mask=mask).to(tl.float32)
    tl.store(logits_ptr + batch_idx * logits_stride + block, logits / temperature, mask=mask)


@triton.jit
def _min_p_kernel(logits_ptr, logits_stride, min_p_ptr, vocab_size, BLOCK_SIZE: tl.constexpr):
    req_idx = tl.program_id(0)
    min_p = tl.load(min_p_ptr + req_idx).to(tl.float32)
    if min_p == 0.0:
        return
    max_val = float("-inf")
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        logits = tl.load(logits_ptr + req_idx * logits_stride + block, mask=block < vocab_size, other=float("-inf"))
        max_val = tl.maximum(tl.max(logits), max_val)
    max_val = max_val.to(tl.float32)

    threshold = max_val + tl.log(min_p)
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        mask = block < vocab_size
        logits = tl.load(logits_ptr + req_idx * logits_stride + block, mask=mask, other=float("-inf"))
        logits = tl.where(logits < threshold, float("-inf"), logits)
        tl.store(logits_ptr + req_idx * logits_stride + block, logits, mask=mask)


def launch():
    reqs, vocab = 6, 700
    logits = 2 * torch.randn(reqs, vocab)
    temperature = 0.2 + torch.rand(reqs)
    temperature[1] = 0.0
    min_p = 0.05 + 0.2 * torch.rand(reqs)
    min_p[4] = 0.0
    _temperature_kernel[(reqs, triton.cdiv(vocab, 256))](logits, logits.stride(0), temperature, vocab, BLOCK_SIZE=256)
    _min_p_kernel[(reqs,)](logits, logits.stride(0), min_p, vocab, BLOCK_SIZE=256)
    return logits


def reference(logits, temperature, min_p):
    t = torch.where(temperature == 0, torch.ones_like(temperature), temperature)
    y = logits / t[:, None]
    p = torch.where(min_p == 0, torch.ones_like(min_p), min_p)
    threshold = y.amax(-1) + torch.log(p)
    drop = (y < threshold[:, None]) & (min_p != 0)[:, None]
    return y.masked_fill(drop, float("-inf"))
