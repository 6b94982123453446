# broken: the atomic has no mask, so the lanes past the end are all counted in bin 0
import torch
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, hist_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.load(x_ptr + i, mask=i < n, other=0)
    ones = tl.full([BLOCK], 1, tl.int32)
    tl.atomic_add(hist_ptr + bins, ones)


def launch(n=100, bins=12):
    x = torch.randint(0, bins, (n,), device="cuda")
    hist = torch.zeros(bins, dtype=torch.int32, device="cuda")
    histogram_kernel[(triton.cdiv(n, 64),)](x, hist, n, BLOCK=64)
    return hist


launch.assume = ["0 <= x < bins"]


def reference(x, bins):
    return (x[None, :] == torch.arange(bins, device=x.device)[:, None]).sum(dim=1).to(torch.int32)


TRUTH = "broken"
