"""Sampling front end: repetition, frequency and presence penalties and the temperature, applied to the logits in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def penalties_kernel(
    logits_ptr, counts_ptr, prompt_ptr, rep_ptr, freq_ptr, pres_ptr, temp_ptr, logits_stride, counts_stride, V,
    BLOCK: tl.constexpr,
):
    b = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < V
    rep = tl.load(rep_ptr + b)
    freq = tl.load(freq_ptr + b)
    pres = tl.load(pres_ptr + b)
    temp = tl.load(temp_ptr + b)
    temp = tl.where(temp < 1e-5, 1.0, temp)

    x = tl.load(logits_ptr + b * logits_stride + cols, mask=mask, other=0.0)
    count = tl.load(counts_ptr + b * counts_stride + cols, mask=mask, other=0)
    in_prompt = tl.load(prompt_ptr + b * counts_stride + cols, mask=mask, other=0)
    seen = (count > 0) | (in_prompt != 0)
    scale = tl.where(seen, rep, 1.0)
    x = tl.where(x > 0, x / scale, x * scale)
    x -= freq * count
    x -= pres * (count > 0)
    tl.store(logits_ptr + b * logits_stride + cols, x / temp, mask=mask)


def launch(batch=4, vocab=150):
    logits = torch.randn(batch, vocab)
    counts = torch.randint(0, 3, (batch, vocab), dtype=torch.int32)
    prompt = torch.randint(0, 2, (batch, vocab), dtype=torch.int8)
    repetition = torch.rand(batch) + 1.0
    frequency = torch.rand(batch)
    presence = torch.rand(batch)
    temperature = torch.rand(batch)
    penalties_kernel[(batch, triton.cdiv(vocab, 64))](
        logits, counts, prompt, repetition, frequency, presence, temperature,
        logits.stride(0), counts.stride(0), vocab, BLOCK=64,
    )
    return logits


def reference(logits, counts, prompt, repetition, frequency, presence, temperature):
    seen = (counts > 0) | (prompt > 0)
    scale = torch.where(seen, repetition[:, None], 1.0)
    logits = torch.where(logits > 0, logits / scale, logits * scale)
    logits = logits - frequency[:, None] * counts - presence[:, None] * (counts > 0)
    return logits / torch.where(temperature < 1e-5, 1.0, temperature)[:, None]
TRUTH = "verified"
