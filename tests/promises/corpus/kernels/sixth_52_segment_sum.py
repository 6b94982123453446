import torch
import triton
import triton.language as tl


@triton.jit
def segment_sum_csr_kernel(values_ptr, indptr_ptr, out_ptr, n_feat, BLOCK_F: tl.constexpr):
    seg = tl.program_id(0)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    f_ok = f < n_feat
    start = tl.load(indptr_ptr + seg)
    stop = tl.load(indptr_ptr + seg + 1)
    acc = tl.zeros([BLOCK_F], dtype=tl.float32)
    for row in range(start, stop):
        acc += tl.load(values_ptr + row * n_feat + f, mask=f_ok, other=0.0)
    tl.store(out_ptr + seg * n_feat + f, acc, mask=f_ok)


def segment_sum_csr(values, indptr):
    n_seg = indptr.shape[0] - 1
    n_feat = values.shape[1]
    out = torch.empty(n_seg, n_feat)
    segment_sum_csr_kernel[(n_seg, triton.cdiv(n_feat, 32))](values, indptr, out, n_feat, BLOCK_F=32)
    return out


def launch(rows=30, segments=6, feat=20):
    values = torch.randn(rows, feat)
    cuts = torch.randint(0, rows + 1, (segments - 1,)).sort().values
    indptr = torch.cat([torch.zeros(1, dtype=torch.int64), cuts, torch.full((1,), rows)])
    return segment_sum_csr(values, indptr)


def reference(values, indptr):
    r = torch.arange(values.shape[0])
    member = (r[None, :] >= indptr[:-1, None]) & (r[None, :] < indptr[1:, None])
    return member.to(values.dtype) @ values


TRUTH = "verified"
