import torch
import triton
import triton.language as tl


# OpenAI-style logit_bias: for every request a padded list of token ids (-1 = padding) and biases, added in place
@triton.jit
def logit_bias_kernel(logits_ptr, ids_ptr, bias_ptr, row_map_ptr, stride_l, K, BLOCK_K: tl.constexpr):
    req = tl.program_id(0)
    row = tl.load(row_map_ptr + req)
    offs = tl.arange(0, BLOCK_K)
    in_list = offs < K
    tok = tl.load(ids_ptr + req * K + offs, mask=in_list, other=-1)
    bias = tl.load(bias_ptr + req * K + offs, mask=in_list, other=0.0)
    tl.atomic_add(logits_ptr + row * stride_l + tok, bias, mask=in_list & (tok >= 0))


def launch(reqs=5, rows=8, vocab=120, k=11):
    logits = torch.randn(rows, vocab, device="cuda")
    ids = torch.randint(-1, vocab, (reqs, k), device="cuda")
    bias = torch.randn(reqs, k, device="cuda")
    row_map = torch.randint(0, rows, (reqs,), device="cuda")
    logit_bias_kernel[(reqs,)](logits, ids, bias, row_map, logits.stride(0), k, BLOCK_K=triton.next_power_of_2(k))
    return logits


def reference(logits, ids, bias, row_map):
    valid = ids >= 0
    rows = row_map[:, None].expand_as(ids)
    return logits.index_put((rows, ids.clamp(min=0)), torch.where(valid, bias, torch.zeros_like(bias)), accumulate=True)


TRUTH = "verified"
