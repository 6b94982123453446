# rank of the sampled token for `logprobs`: how many logits of its row are at least as large
import torch
import triton
import triton.language as tl


@triton.jit
def _ranks_kernel(output_ptr, logits_ptr, logits_stride, token_ids_ptr, vocab_size, BLOCK_SIZE: tl.constexpr):
    req_idx = tl.program_id(0)
    row_ptr = logits_ptr + req_idx * logits_stride
    token_id = tl.load(token_ids_ptr + req_idx)
    x = tl.load(row_ptr + token_id)

    n = 0
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        logits = tl.load(row_ptr + block, mask=block < vocab_size, other=0.0)
        n += tl.sum((logits >= x).to(tl.int32))
    tl.store(output_ptr + req_idx, n)


def compute_token_ranks(logits, token_ids):
    batch, vocab = logits.shape
    ranks = torch.empty(batch, dtype=torch.int32, device=logits.device)
    _ranks_kernel[(batch,)](ranks, logits, logits.stride(0), token_ids, vocab, BLOCK_SIZE=64)
    return ranks


def launch(batch=5, vocab=150):
    logits = torch.randn(batch, vocab, device="cuda")
    token_ids = torch.randint(0, vocab, (batch,), device="cuda")
    ranks = compute_token_ranks(logits, token_ids)
    return ranks


def reference(logits, token_ids):
    chosen = logits.gather(1, token_ids[:, None])
    return (logits >= chosen).sum(dim=1).to(torch.int32)


# lanes past the vocabulary read 0.0 and are counted where the chosen logit is negative
TRUTH = "broken"
