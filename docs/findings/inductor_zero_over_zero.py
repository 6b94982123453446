# inductor: wrong value in output 0 (0.0 for nan at [0, 0]); guilty: inductor / joint_graph_passes / constant_fold_uniform_value
import torch
def program(x0):
    y0 = x0.__rdiv__(0)
    return y0,
inputs = lambda: [torch.tensor([[0]], dtype=torch.int32)]
compiled = torch.compile(program)
a, b = inputs(), inputs()
for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):
    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)
