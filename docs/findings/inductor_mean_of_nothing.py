# inductor: wrong value in output 0 (0.0 for nan at []); guilty: inductor / lowerings / var_mean
import torch
def program(x0):
    y0, y1 = torch.std_mean(x0)
    return y1,
inputs = lambda: [torch.arange(0, dtype=torch.bfloat16)]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, equal_nan=True)
