import torch
import triton
import triton.language as tl


@triton.jit
def get_last_loc_kernel(
    req_to_token,
    req_pool_indices,
    prefix_lens,
    result,
    num_tokens,
    req_to_token_stride,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    offset = tl.arange(0, BLOCK_SIZE) + pid * BLOCK_SIZE
    mask = offset < num_tokens

    prefix = tl.load(prefix_lens + offset, mask=mask, other=0)
    pool = tl.load(req_pool_indices + offset, mask=mask, other=0)
    has_prefix = prefix > 0
    token_index = pool * req_to_token_stride + (prefix - 1)
    tokens = tl.load(req_to_token + token_index, mask=mask & has_prefix, other=-1)
    tl.store(result + offset, tokens, mask=mask)


def get_last_loc(req_to_token, req_pool_indices, prefix_lens):
    n = prefix_lens.shape[0]
    result = torch.empty_like(prefix_lens)
    get_last_loc_kernel[(triton.cdiv(n, 256),)](
        req_to_token, req_pool_indices, prefix_lens, result, n, req_to_token.stride(0), BLOCK_SIZE=256
    )
    return result


def launch(bs=5, pool_size=9, max_ctx=40):
    req_to_token = torch.randint(0, 1000, (pool_size, max_ctx), device="cuda")
    req_pool_indices = torch.randint(0, pool_size, (bs,), device="cuda")
    prefix_lens = torch.randint(0, max_ctx + 1, (bs,), device="cuda")
    return get_last_loc(req_to_token, req_pool_indices, prefix_lens)


def reference(req_to_token, req_pool_indices, prefix_lens):
    last = req_to_token[req_pool_indices, (prefix_lens - 1).clamp(min=0)]
    return torch.where(prefix_lens > 0, last, -1)


TRUTH = "verified"
