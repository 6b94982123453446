import torch
import triton
import triton.language as tl


@triton.jit
def create_kv_indices_triton(
    req_to_token_ptr,  # [max_batch, max_context_len]
    req_pool_indices_ptr,
    kv_len_ptr,
    kv_start_ptr,
    kv_indices_ptr,
    req_to_token_ptr_stride,
    kv_indices_stride,
):
    BLOCK_SIZE: tl.constexpr = 16
    pid = tl.program_id(axis=0)

    # find the req pool idx, this is for batch to token
    req_pool_index = tl.load(req_pool_indices_ptr + pid)
    kv_start = tl.load(kv_start_ptr + pid).to(tl.int32)
    kv_len = tl.load(kv_len_ptr + pid).to(tl.int32)

    num_loop = tl.cdiv(kv_len, BLOCK_SIZE)
    for i in range(num_loop):
        offset = tl.arange(0, BLOCK_SIZE) + i * BLOCK_SIZE
        mask = offset < kv_len
        data = tl.load(
            req_to_token_ptr + req_pool_index * req_to_token_ptr_stride + kv_start + offset,
            mask=mask,
        )
        tl.store(kv_indices_ptr + pid * kv_indices_stride + offset, data, mask=mask)


def launch(bs=4, pool=6, context=45):
    assert bs <= pool
    req_to_token = torch.randint(0, 1 << 20, (pool, context), dtype=torch.int32)
    req_pool_indices = torch.randperm(pool)[:bs]
    kv_start = torch.randint(0, 5, (bs,), dtype=torch.int32)
    kv_len = torch.randint(1, context - 4, (bs,), dtype=torch.int32)
    kv_indices = torch.zeros((bs, context), dtype=torch.int32)
    create_kv_indices_triton[(bs,)](
        req_to_token, req_pool_indices, kv_len, kv_start, kv_indices,
        req_to_token.stride(0), kv_indices.stride(0),
    )
    return kv_indices


def reference(req_to_token, req_pool_indices, kv_start, kv_len):
    context = req_to_token.shape[1]
    rows = req_to_token[req_pool_indices]
    j = torch.arange(context)[None, :]
    src = (j + kv_start[:, None]).clamp(max=context - 1).long()
    return torch.where(j < kv_len[:, None], rows.gather(1, src), 0)


TRUTH = "verified"
