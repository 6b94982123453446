import torch
import triton
import triton.language as tl


@triton.jit
def _fg_kernel(e, g, h, n_elements, BLOCK_SIZE: tl.constexpr):
    block_idx = tl.program_id(0)
    offsets = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements

    e_row = tl.load(e + offsets, mask=mask, other=0).to(tl.float32)
    g_row = tl.load(g + offsets, mask=mask, other=0)
    # f = e * sigmoid(e), h = f * g
    f_row = e_row * tl.sigmoid(e_row)
    tl.store(h + offsets, f_row * g_row, mask=mask)


def swiglu_fg_kernel(e, g):
    batch, seq_len, hd = e.shape
    h = torch.zeros((batch, seq_len, hd), dtype=e.dtype)
    n_elements = e.numel()
    grid = lambda meta: (max(n_elements // meta["BLOCK_SIZE"], 1),)
    _fg_kernel[grid](e, g, h, n_elements, BLOCK_SIZE=64)
    return h


def launch(batch=2, seq_len=5, hd=23):
    e = torch.randn(batch, seq_len, hd)
    g = torch.randn(batch, seq_len, hd)
    return swiglu_fg_kernel(e, g)


def reference(e, g):
    return torch.nn.functional.silu(e) * g


TRUTH = "broken"
