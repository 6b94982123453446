# Token slots of a ragged batch are written into the rows of the request pool.
import torch
import triton
import triton.language as tl


@triton.jit
def req_to_token_kernel(pool_ptr, req_ptr, start_ptr, len_ptr, ids_ptr, stride_pool, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    req = tl.load(req_ptr + b)
    start = tl.load(start_ptr + b)
    length = tl.load(len_ptr + b)
    for i in range(0, length, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        mask = offs < length
        ids = tl.load(ids_ptr + start + offs, mask=mask)
        tl.store(pool_ptr + req * stride_pool + offs, ids, mask=mask)


def launch(B=4, R=9, L=24, N=80):
    pool = torch.zeros(R, L, dtype=torch.int32, device="cuda")
    req = torch.randperm(R, device="cuda")[:B]
    lens = torch.randint(1, N // B + 1, (B,), device="cuda")
    starts = torch.cumsum(lens, 0) - lens
    ids = torch.randint(0, 1000, (N,), dtype=torch.int32, device="cuda")
    req_to_token_kernel[(B,)](pool, req, starts, lens, ids, pool.stride(0), BLOCK=8)
    return pool


launch.assume = ["0 <= req < R", "distinct(req)", "0 <= lens <= L", "0 <= starts <= N"]


def reference(pool, req, starts, lens, ids):
    j = torch.arange(pool.shape[1], device=pool.device)
    source = (starts[:, None] + j).clamp(max=ids.shape[0] - 1)
    rows = torch.where(j < lens[:, None], ids[source], pool[req])
    return pool.index_copy(0, req, rows)


TRUTH = "verified"
