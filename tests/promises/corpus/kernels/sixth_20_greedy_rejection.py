# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl

PLACEHOLDER_TOKEN_ID = -1


@triton.jit
def rejection_greedy_sample_kernel(
    output_token_ids_ptr,  # [batch_size, max_spec_len + 1]
    draft_token_ids_ptr,  # [batch_size, max_spec_len]
    num_draft_tokens_ptr,  # [batch_size]
    target_argmax_ptr,  # [batch_size, max_spec_len]
    bonus_token_ids_ptr,  # [batch_size]
    max_spec_len,
):
    req_idx = tl.program_id(0)
    num_draft_tokens = tl.load(num_draft_tokens_ptr + req_idx)

    rejected = False
    for pos in range(num_draft_tokens):
        if not rejected:
            draft_token_id = tl.load(draft_token_ids_ptr + req_idx * max_spec_len + pos)
            target_argmax_id = tl.load(target_argmax_ptr + req_idx * max_spec_len + pos)
            tl.store(output_token_ids_ptr + req_idx * (max_spec_len + 1) + pos, target_argmax_id)
            if draft_token_id != target_argmax_id:
                rejected = True

    if not rejected:
        bonus_token_id = tl.load(bonus_token_ids_ptr + req_idx)
        tl.store(output_token_ids_ptr + req_idx * (max_spec_len + 1) + num_draft_tokens, bonus_token_id)


def launch(batch_size=6, max_spec_len=4):
    draft = torch.randint(0, 2, (batch_size, max_spec_len), dtype=torch.int32)
    target_argmax = torch.randint(0, 2, (batch_size, max_spec_len), dtype=torch.int32)
    num_draft = torch.randint(1, max_spec_len + 1, (batch_size,), dtype=torch.int32)
    bonus = torch.randint(5, 9, (batch_size,), dtype=torch.int32)
    output_token_ids = torch.full((batch_size, max_spec_len + 1), PLACEHOLDER_TOKEN_ID, dtype=torch.int32)
    rejection_greedy_sample_kernel[(batch_size,)](
        output_token_ids, draft, num_draft, target_argmax, bonus, max_spec_len
    )
    return output_token_ids


def reference(draft, target_argmax, num_draft, bonus):
    n, k = draft.shape
    pos = torch.arange(k)
    live = pos[None, :] < num_draft[:, None]
    miss = ((draft != target_argmax) & live).to(torch.int32)
    before = miss.cumsum(1) - miss  # mismatches strictly before this place
    out = torch.where(live & (before == 0), target_argmax, -1)
    out = torch.cat([out, torch.full((n, 1), -1, dtype=torch.int32)], 1)
    wide = torch.arange(k + 1)
    at_end = (wide[None, :] == num_draft[:, None]) & (miss.sum(1) == 0)[:, None]
    return torch.where(at_end, bonus[:, None], out)


TRUTH = "verified"
