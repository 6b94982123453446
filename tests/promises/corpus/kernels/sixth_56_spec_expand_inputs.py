import torch
import triton
import triton.language as tl


@triton.jit
def prepare_spec_inputs_kernel(
    last_token_ptr,   # [num_reqs]
    draft_ptr,        # [num_reqs, num_spec]
    seq_len_ptr,      # [num_reqs]
    input_ids_ptr,    # [num_reqs * (num_spec + 1)]
    positions_ptr,    # [num_reqs * (num_spec + 1)]
    num_spec,
    total_tokens,
    BLOCK: tl.constexpr,
):
    req = tl.program_id(0)
    per_req = num_spec + 1
    start = req * per_req
    offs = tl.arange(0, BLOCK)
    mask = start + offs < total_tokens

    last = tl.load(last_token_ptr + req)
    seq_len = tl.load(seq_len_ptr + req)
    draft = tl.load(draft_ptr + req * num_spec + offs - 1, mask=mask & (offs > 0) & (offs <= num_spec), other=0)
    ids = tl.where(offs == 0, last, draft)
    tl.store(input_ids_ptr + start + offs, ids, mask=mask)
    tl.store(positions_ptr + start + offs, seq_len + offs, mask=mask)


def prepare_spec_inputs(last_token, draft, seq_len):
    n, k = draft.shape
    total = n * (k + 1)
    input_ids = torch.empty(total, dtype=torch.int64)
    positions = torch.empty(total, dtype=torch.int64)
    prepare_spec_inputs_kernel[(n,)](
        last_token, draft, seq_len, input_ids, positions, k, total, BLOCK=triton.next_power_of_2(k + 1))
    return input_ids, positions


def launch(num_reqs=5, num_spec=4):
    last_token = torch.randint(0, 1000, (num_reqs,))
    draft = torch.randint(0, 1000, (num_reqs, num_spec))
    seq_len = torch.randint(1, 50, (num_reqs,))
    return prepare_spec_inputs(last_token, draft, seq_len)


def reference(last_token, draft, seq_len):
    n, k = draft.shape
    ids = torch.cat([last_token[:, None], draft], dim=1)
    pos = seq_len[:, None] + torch.arange(k + 1)[None, :]
    return ids.reshape(-1), pos.reshape(-1)


TRUTH = "broken"
