# broken: what is carried over is the sum of the last tile only; wrong from the third tile on (cols > 64)
import torch
import triton
import triton.language as tl


# running sum along rows, tile by tile
@triton.jit
def row_cumsum(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0)
        tl.store(out_ptr + row * cols + c, tl.cumsum(x, axis=0) + carry, mask=c < cols)
        carry = tl.sum(x, axis=0)


def launch(rows=4, cols=50):
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    row_cumsum[(rows,)](x, out, cols, BLOCK=32)
    return out


def reference(x):
    return torch.cumsum(x, dim=1)


TRUTH = "broken"
