"""A request that has not yet produced its minimum number of tokens may not sample a stop token."""
import torch
import triton
import triton.language as tl


@triton.jit
def _min_tokens_kernel(
    logits_ptr, logits_stride,
    num_generated_ptr, min_tokens_ptr,
    stop_ids_ptr, stop_ids_stride,
    num_stop_ptr,
    BLOCK_STOP: tl.constexpr,
):
    req = tl.program_id(0)
    generated = tl.load(num_generated_ptr + req)
    minimum = tl.load(min_tokens_ptr + req)
    if generated >= minimum:
        return
    num_stop = tl.load(num_stop_ptr + req)
    k = tl.arange(0, BLOCK_STOP)
    live = k < num_stop
    ids = tl.load(stop_ids_ptr + req * stop_ids_stride + k, mask=live, other=0)
    tl.store(logits_ptr + req * logits_stride + ids, -float("inf"), mask=live)


def launch(num_reqs=6, vocab=50, max_stop=4):
    logits = torch.randn(num_reqs, vocab, device="cuda")
    num_generated = torch.randint(0, 8, (num_reqs,), dtype=torch.int32, device="cuda")
    min_tokens = torch.randint(0, 8, (num_reqs,), dtype=torch.int32, device="cuda")
    stop_ids = torch.randint(0, vocab, (num_reqs, max_stop), dtype=torch.int32, device="cuda")
    num_stop = torch.randint(0, max_stop + 1, (num_reqs,), dtype=torch.int32, device="cuda")
    _min_tokens_kernel[(num_reqs,)](
        logits, logits.stride(0), num_generated, min_tokens,
        stop_ids, stop_ids.stride(0), num_stop,
        BLOCK_STOP=triton.next_power_of_2(max_stop),
    )
    return logits


def reference(logits, num_generated, min_tokens, stop_ids, num_stop):
    vocab = logits.shape[1]
    token = torch.arange(vocab, device=logits.device)
    k = torch.arange(stop_ids.shape[1], device=logits.device)
    listed = (stop_ids[:, :, None] == token) & (k[None, :, None] < num_stop[:, None, None])
    banned = listed.any(dim=1) & (num_generated < min_tokens)[:, None]
    return logits.masked_fill(banned, float("-inf"))


TRUTH = "verified"
