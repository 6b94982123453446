# inductor: wrong input after the call (22 of 25 elements); guilty: aot_eager
import torch
def program(x0):
    y0 = torch.clone(x0)
    torch._foreach_mul_([x0, x0], [x0, x0])
    return y0,
inputs = lambda: [torch.arange(25, dtype=torch.int8).reshape((5, 5))]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
