# inductor: wrong shape in output 0 ([] for [1, 1]); guilty: inductor / lowerings / any_1
import torch
def program(x0):
    y0 = torch.any(x0, dim=(), keepdim=False)
    return y0,
inputs = lambda: [torch.ones((1, 1), dtype=torch.int32)]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
