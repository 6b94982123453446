"""Sampler logits in place: repetition, frequency and presence penalties by token counts, then a temperature for each request (0 means greedy)."""
import torch
import triton
import triton.language as tl


@triton.jit
def _penalties_kernel(
    logits_ptr, prompt_mask_ptr, counts_ptr, rep_ptr, freq_ptr, pres_ptr, temp_ptr,
    logits_stride, mask_stride, counts_stride,
    vocab,
    BLOCK: tl.constexpr,
):
    req = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < vocab
    rep = tl.load(rep_ptr + req)
    freq = tl.load(freq_ptr + req)
    pres = tl.load(pres_ptr + req)
    temp = tl.load(temp_ptr + req)
    temp = tl.where(temp == 0.0, 1.0, temp)
    x = tl.load(logits_ptr + req * logits_stride + offs, mask=mask).to(tl.float32)
    in_prompt = tl.load(prompt_mask_ptr + req * mask_stride + offs, mask=mask, other=0) != 0
    count = tl.load(counts_ptr + req * counts_stride + offs, mask=mask, other=0)
    seen = in_prompt | (count > 0)
    scale = tl.where(seen, rep, 1.0)
    x = tl.where(x > 0, x / scale, x * scale)
    x -= freq * count
    x -= pres * (count > 0)
    x = x / temp
    tl.store(logits_ptr + req * logits_stride + offs, x, mask=mask)


def launch(requests=4, vocab=150):
    logits = torch.randn(requests, vocab, device="cuda")
    prompt_mask = torch.randint(0, 2, (requests, vocab), device="cuda", dtype=torch.int8)
    counts = torch.randint(0, 4, (requests, vocab), device="cuda", dtype=torch.int32)
    repetition = torch.rand(requests, device="cuda") + 1.0
    frequency = torch.rand(requests, device="cuda")
    presence = torch.rand(requests, device="cuda")
    temperature = torch.rand(requests, device="cuda") + 0.5
    _penalties_kernel[(requests, triton.cdiv(vocab, 64))](
        logits, prompt_mask, counts, repetition, frequency, presence, temperature,
        logits.stride(0), prompt_mask.stride(0), counts.stride(0), vocab, BLOCK=64,
    )
    return logits


def reference(logits, prompt_mask, counts, repetition, frequency, presence, temperature):
    seen = (prompt_mask != 0) | (counts > 0)
    r = repetition[:, None]
    penalised = torch.where(logits > 0, logits / r, logits * r)
    x = torch.where(seen, penalised, logits)
    x = x - frequency[:, None] * counts - presence[:, None] * (counts > 0).float()
    t = torch.where(temperature == 0, torch.ones_like(temperature), temperature)
    return x / t[:, None]

TRUTH = "verified"
