# inductor: wrong value in output 0 (2 of 2 elements); guilty: inductor / lowerings / amin
import torch
def program(x0):
    y0 = torch.amin(x0, -1)
    return y0,
inputs = lambda: [torch.ones((2, 1, 16), dtype=torch.int8)]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
