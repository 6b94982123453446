# inductor: wrong value in output 0 (1 of 1 elements); guilty: inductor / lowerings / argmin
import torch
def program(x0):
    y0 = torch.argmin(x0)
    return y0,
inputs = lambda: [torch.tensor([0, 1, 1, 1], dtype=torch.uint8).repeat(5)[:17].reshape((17,))[1:]]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
