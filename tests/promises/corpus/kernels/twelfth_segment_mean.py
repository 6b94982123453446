"""Mean over the rows indptr[s] ≤ r < indptr[s + 1] of each segment, an empty segment giving zero."""
import torch
import triton
import triton.language as tl


@triton.jit
def segment_mean_kernel(x_ptr, indptr_ptr, out_ptr, n_cols, BR: tl.constexpr, BC: tl.constexpr):
    seg = tl.program_id(0)
    cols = tl.program_id(1) * BC + tl.arange(0, BC)
    begin = tl.load(indptr_ptr + seg)
    end = tl.load(indptr_ptr + seg + 1)
    acc = tl.zeros((BC,), tl.float32)
    for start in range(begin, end, BR):
        rows = start + tl.arange(0, BR)
        mask = (rows[:, None] < end) & (cols[None, :] < n_cols)
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
        acc += tl.sum(x, axis=0)
    count = tl.maximum(end - begin, 1)
    tl.store(out_ptr + seg * n_cols + cols, acc / count, mask=cols < n_cols)


def launch(segments=5, rows=60, cols=50):
    x = torch.randn(rows, cols, device="cuda")
    indptr = torch.randint(0, rows + 1, (segments + 1,), device="cuda", dtype=torch.int32).sort().values
    out = torch.empty(segments, cols, device="cuda")
    segment_mean_kernel[(segments, triton.cdiv(cols, 32))](x, indptr, out, cols, BR=8, BC=32)
    return out


def reference(x, indptr):
    rows = torch.arange(x.shape[0], device=x.device)
    begin, end = indptr[:-1, None], indptr[1:, None]
    member = ((rows >= begin) & (rows < end)).to(x.dtype)
    return (member @ x) / (end - begin).clamp(min=1)


TRUTH = "verified"
