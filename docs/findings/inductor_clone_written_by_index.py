# inductor: wrong value in output 0 (0.0 for 1.0 at [0, 0], off by 1.0e+00 of the largest); guilty: inductor / post_grad_passes / reinplace_inplaceable_ops
import torch
def program(x0, x1):
    y0 = torch.clone(x0)
    x0.index_copy_(0, x1, y0)
    return x0,
inputs = lambda: [torch.tensor([[0.0], [1.0]], dtype=torch.float32), torch.tensor([1, 0])]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, equal_nan=True)
