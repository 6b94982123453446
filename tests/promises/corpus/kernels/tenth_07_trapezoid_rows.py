"""torch.trapezoid over the last dimension with sample points that all rows share."""
import torch
import triton
import triton.language as tl


@triton.jit
def trapezoid_kernel(y_ptr, x_ptr, out_ptr, y_stride, n_points, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    y_row = y_ptr + row * y_stride
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_points, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_points
        y0 = tl.load(y_row + cols, mask=mask, other=0.0)
        y1 = tl.load(y_row + cols + 1, mask=mask, other=0.0)
        x0 = tl.load(x_ptr + cols, mask=mask, other=0.0)
        x1 = tl.load(x_ptr + cols + 1, mask=mask, other=0.0)
        acc += (x1 - x0) * (y0 + y1)
    tl.store(out_ptr + row, 0.5 * tl.sum(acc, axis=0))


def launch(rows=5, points=83):
    y = torch.randn(rows, points, device="cuda")
    x = torch.rand(points, device="cuda").cumsum(0)
    out = torch.empty(rows, device="cuda")
    trapezoid_kernel[(rows,)](y, x, out, y.stride(0), points, BLOCK_SIZE=64)
    return out


def reference(y, x):
    return torch.trapezoid(y, x, dim=-1)


TRUTH = "broken"
# WHY: there are n_points - 1 intervals; the lane of the last point reads x[n_points], out of bounds, and the first
# element of the next row, and adds an interval that is not there.
