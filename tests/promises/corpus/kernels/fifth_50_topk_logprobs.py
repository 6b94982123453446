"""Log-probabilities of chosen tokens without keeping the whole softmax, in blocks of the vocabulary."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def _topk_log_softmax_kernel(
    output_ptr, logits_ptr, logits_stride, topk_ids_ptr, topk, vocab_size, BLOCK_SIZE: tl.constexpr, PADDED_TOPK: tl.constexpr
):
    req_idx = tl.program_id(0)
    row_ptr = logits_ptr + req_idx * logits_stride
    max_val = float("-inf")
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        logits = tl.load(row_ptr + block, mask=block < vocab_size, other=float("-inf"))
        max_val = tl.maximum(tl.max(logits), max_val)

    se = 0.0
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        logits = tl.load(row_ptr + block, mask=block < vocab_size, other=0.0).to(tl.float32)
        se += tl.sum(tl.exp(logits - max_val))
    lse = tl.log(se)

    k_offset = tl.arange(0, PADDED_TOPK)
    k_mask = k_offset < topk
    topk_ids = tl.load(topk_ids_ptr + req_idx * topk + k_offset, mask=k_mask, other=0)
    chosen = tl.load(row_ptr + topk_ids, mask=k_mask)
    tl.store(output_ptr + req_idx * topk + k_offset, chosen - max_val - lse, mask=k_mask)


def launch():
    reqs, vocab, topk = 5, 330, 6
    logits = torch.randn(reqs, vocab)
    token_ids = torch.randint(0, vocab, (reqs, topk))
    logprobs = torch.empty(reqs, topk)
    _topk_log_softmax_kernel[(reqs,)](
        logprobs, logits, logits.stride(0), token_ids, topk, vocab, BLOCK_SIZE=256, PADDED_TOPK=triton.next_power_of_2(topk)
    )
    return logprobs


def reference(logits, token_ids):
    return torch.log_softmax(logits, -1).gather(1, token_ids)
