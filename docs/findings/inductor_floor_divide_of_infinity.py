# inductor: wrong value in output 0 (inf for nan at [0, 1, 1]); guilty: inductor / lowerings / div
import torch
from torch import inf, nan
def program(x0, x1):
    y0 = torch.floor_divide(x0, x1)
    return y0,
inputs = lambda: [torch.tensor([0.0, 2.5, 1e-1, inf], dtype=torch.float16).repeat(281)[:1122].reshape((33, 17, 2)), torch.ones((1, 17, 2), dtype=torch.float16)]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, equal_nan=True)
