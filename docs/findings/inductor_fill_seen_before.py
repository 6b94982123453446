# inductor: wrong value in output 0 (1 of 2 elements); guilty: inductor / post_grad_passes / reinplace_inplaceable_ops
import torch
def program(x0, x1):
    y0 = torch.add(x0, x0)
    y1 = torch.cat([y0, x0])
    y0.index_fill_(0, x1, 1)
    return y1, y0
inputs = lambda: [torch.arange(1, dtype=torch.int64), torch.tensor([0])]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
