# inductor: wrong strides in output 0 ((0,) for (1,)); guilty: inductor / post_grad_passes / pass_pattern_1
import torch
def program(x0):
    x0.fill_(1)
    y0 = torch.cumsum(x0, 0)
    return y0,
inputs = lambda: [torch.ones((1, 2))]
compiled = torch.compile(program)
for x, y in zip(program(*inputs()), compiled(*inputs())):
    assert x.stride() == y.stride(), (x.stride(), y.stride())
