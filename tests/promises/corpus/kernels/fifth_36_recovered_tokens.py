"""Rejection sampling: the token drawn from max(target - draft, 0) by exponential noise, for each draft token."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def sample_recovered_tokens_kernel(
    output_token_ids_ptr,
    cu_num_draft_tokens_ptr,
    draft_probs_ptr,
    target_probs_ptr,
    q_ptr,
    vocab_size,
    PADDED_VOCAB_SIZE: tl.constexpr,
):
    req_idx = tl.program_id(0)
    start_idx = 0 if req_idx == 0 else tl.load(cu_num_draft_tokens_ptr + req_idx - 1)
    end_idx = tl.load(cu_num_draft_tokens_ptr + req_idx)
    num_draft_tokens = end_idx - start_idx
    pos = tl.program_id(1)
    if pos >= num_draft_tokens:
        return

    vocab_offset = tl.arange(0, PADDED_VOCAB_SIZE)
    mask = vocab_offset < vocab_size
    draft_prob = tl.load(draft_probs_ptr + (start_idx + pos) * vocab_size + vocab_offset, mask=mask, other=0.0)
    target_prob = tl.load(target_probs_ptr + (start_idx + pos) * vocab_size + vocab_offset, mask=mask, other=0.0)
    prob = tl.maximum(target_prob - draft_prob, 0.0)
    q = tl.load(q_ptr + req_idx * vocab_size + vocab_offset, mask=mask, other=float("inf"))
    recovered_id = tl.argmax(prob / q, axis=-1)
    tl.store(output_token_ids_ptr + start_idx + pos, recovered_id)


def launch():
    num_draft = torch.tensor([2, 3, 0, 1], dtype=torch.int32)
    vocab = 150
    cu_num_draft = torch.cumsum(num_draft, 0).to(torch.int32)
    total, max_spec_len = int(cu_num_draft[-1]), 3
    draft_probs = torch.softmax(torch.randn(total, vocab), -1)
    target_probs = torch.softmax(torch.randn(total, vocab), -1)
    q = torch.empty(num_draft.shape[0], vocab).exponential_() + 1e-3
    recovered = torch.empty(total, dtype=torch.int64)
    sample_recovered_tokens_kernel[(num_draft.shape[0], max_spec_len)](
        recovered, cu_num_draft, draft_probs, target_probs, q, vocab, PADDED_VOCAB_SIZE=triton.next_power_of_2(vocab)
    )
    return recovered


def reference(cu_num_draft, draft_probs, target_probs, q):
    token = torch.arange(draft_probs.shape[0])
    request = (token[:, None] >= cu_num_draft[None, :]).sum(1)
    prob = (target_probs - draft_probs).clamp(min=0)
    return (prob / q[request]).argmax(-1)
