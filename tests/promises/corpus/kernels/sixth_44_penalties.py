import torch
import triton
import triton.language as tl


@triton.jit
def penalties_kernel(
    logits_ptr, logits_stride,
    prompt_mask_ptr, bin_counts_ptr, counts_stride,
    rep_ptr, freq_ptr, pres_ptr,
    vocab_size,
    BLOCK_SIZE: tl.constexpr,
):
    req = tl.program_id(0)
    block_idx = tl.program_id(1)

    rep_penalty = tl.load(rep_ptr + req)
    freq_penalty = tl.load(freq_ptr + req)
    pres_penalty = tl.load(pres_ptr + req)

    block = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + req * logits_stride + block, mask=mask).to(tl.float32)
    counts = tl.load(bin_counts_ptr + req * counts_stride + block, mask=mask, other=0)
    in_prompt = tl.load(prompt_mask_ptr + req * counts_stride + block, mask=mask, other=0)
    in_output = counts > 0

    scale = tl.where((in_prompt != 0) | in_output, rep_penalty, 1.0)
    logits = tl.where(logits > 0, logits / scale, logits * scale)
    logits -= freq_penalty * counts
    logits -= pres_penalty * in_output
    tl.store(logits_ptr + req * logits_stride + block, logits, mask=mask)


def apply_penalties(logits, prompt_mask, counts, repetition, frequency, presence):
    R, V = logits.shape
    BLOCK_SIZE = 64
    penalties_kernel[(R, triton.cdiv(V, BLOCK_SIZE))](
        logits, logits.stride(0), prompt_mask, counts, counts.stride(0),
        repetition, frequency, presence, V, BLOCK_SIZE=BLOCK_SIZE)


def launch(reqs=4, vocab=150):
    logits = torch.randn(reqs, vocab)
    prompt_mask = torch.randint(0, 2, (reqs, vocab), dtype=torch.int32)
    counts = torch.randint(0, 4, (reqs, vocab), dtype=torch.int32)
    repetition = torch.rand(reqs) + 1.0
    frequency = torch.rand(reqs)
    presence = torch.rand(reqs)
    apply_penalties(logits, prompt_mask, counts, repetition, frequency, presence)
    return logits


def reference(logits, prompt_mask, counts, repetition, frequency, presence):
    seen = (prompt_mask > 0) | (counts > 0)
    rep = torch.where(seen, repetition[:, None], 1.0)
    logits = torch.where(logits > 0, logits / rep, logits * rep)
    return logits - frequency[:, None] * counts - presence[:, None] * (counts > 0)


TRUTH = "verified"
