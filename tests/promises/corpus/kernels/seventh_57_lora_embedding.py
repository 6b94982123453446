import torch
import triton
import triton.language as tl


@triton.jit
def add_lora_embedding_kernel(
    out_ptr, tokens_ptr, lora_ids_ptr, table_ptr, scaling_ptr,
    vocab, rank,
    BLOCK_R: tl.constexpr,
):
    """out[t, :] += scaling[l] * table[l, tokens[t], :] with l = lora_ids[t]; -1 means no adapter."""
    t = tl.program_id(0)
    lora = tl.load(lora_ids_ptr + t)
    if lora == -1:
        return
    r = tl.arange(0, BLOCK_R)
    mask = r < rank
    token = tl.load(tokens_ptr + t)
    row = tl.load(table_ptr + (lora * vocab + token) * rank + r, mask=mask, other=0.0)
    acc = tl.load(out_ptr + t * rank + r, mask=mask, other=0.0)
    tl.store(out_ptr + t * rank + r, acc + row * tl.load(scaling_ptr + lora), mask=mask)


def launch(n=9, loras=3, vocab=23, rank=12):
    out = torch.randn(n, rank, device="cuda")
    tokens = torch.randint(0, vocab, (n,), device="cuda")
    lora_ids = torch.randint(-1, loras, (n,), device="cuda")
    table = torch.randn(loras, vocab, rank, device="cuda")
    scaling = torch.randn(loras, device="cuda")
    add_lora_embedding_kernel[(n,)](
        out, tokens, lora_ids, table, scaling, vocab, rank, BLOCK_R=triton.next_power_of_2(rank)
    )
    return out


def reference(out, tokens, lora_ids, table, scaling):
    l = lora_ids.clamp(min=0)
    delta = table[l, tokens] * scaling[l, None]
    return out + torch.where((lora_ids >= 0)[:, None], delta, 0.0)


TRUTH = "verified"
