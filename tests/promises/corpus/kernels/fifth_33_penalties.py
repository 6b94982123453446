"""Repetition, frequency and presence penalties in place on the logits of a batch, by request state."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _penalties_kernel(
    logits_ptr,
    logits_stride,
    idx_mapping_ptr,
    repetition_penalty_ptr,
    frequency_penalty_ptr,
    presence_penalty_ptr,
    prompt_mask_ptr,
    prompt_mask_stride,
    output_bin_counts_ptr,
    output_bin_counts_stride,
    vocab_size,
    BLOCK_SIZE: tl.constexpr,
):
    batch_idx = tl.program_id(0)
    state = tl.load(idx_mapping_ptr + batch_idx)
    rep = tl.load(repetition_penalty_ptr + state)
    freq = tl.load(frequency_penalty_ptr + state)
    pres = tl.load(presence_penalty_ptr + state)
    use_penalty = (rep != 1.0) | (freq != 0.0) | (pres != 0.0)
    if not use_penalty:
        return

    block = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + batch_idx * logits_stride + block, mask=mask).to(tl.float32)
    counts = tl.load(output_bin_counts_ptr + state * output_bin_counts_stride + block, mask=mask, other=0)
    in_output = counts > 0
    in_prompt = tl.load(prompt_mask_ptr + state * prompt_mask_stride + block, mask=mask, other=0) != 0

    scale = tl.where(in_prompt | in_output, rep, 1.0)
    logits *= tl.where(logits > 0, 1.0 / scale, scale)
    logits -= freq * counts
    logits -= pres * in_output
    tl.store(logits_ptr + batch_idx * logits_stride + block, logits, mask=mask)


def launch():
    batch, states, vocab = 5, 8, 1000
    logits = 3 * torch.randn(batch, vocab)
    idx_mapping = torch.randint(0, states, (batch,), dtype=torch.int32)
    repetition = 1 + torch.rand(states)
    frequency = torch.rand(states)
    presence = torch.rand(states)
    repetition[2], frequency[2], presence[2] = 1.0, 0.0, 0.0
    prompt_mask = torch.randint(0, 2, (states, vocab), dtype=torch.int8)
    counts = torch.randint(0, 4, (states, vocab), dtype=torch.int32)
    BLOCK_SIZE = 512
    _penalties_kernel[(batch, triton.cdiv(vocab, BLOCK_SIZE))](
        logits,
        logits.stride(0),
        idx_mapping,
        repetition,
        frequency,
        presence,
        prompt_mask,
        prompt_mask.stride(0),
        counts,
        counts.stride(0),
        vocab,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return logits


def reference(logits, idx_mapping, repetition, frequency, presence, prompt_mask, counts):
    idx = idx_mapping.long()
    c = counts[idx]
    seen = (c > 0) | (prompt_mask[idx] != 0)
    scale = torch.where(seen, repetition[idx][:, None], torch.ones_like(logits))
    y = torch.where(logits > 0, logits / scale, logits * scale)
    y = y - frequency[idx][:, None] * c
    return y - presence[idx][:, None] * (c > 0).float()
