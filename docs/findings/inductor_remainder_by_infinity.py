# inductor: wrong value in output 0 (nan for 0.0 at [0, 0]); guilty: inductor / lowerings / remainder
import torch
from torch import inf, nan
def program(x0, x1):
    y0 = torch.remainder(x1, x0)
    return y0,
inputs = lambda: [torch.tensor([-inf, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0], dtype=torch.float32).repeat(11)[:136].reshape((8, 17)), torch.zeros((8, 17))]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, equal_nan=True)
