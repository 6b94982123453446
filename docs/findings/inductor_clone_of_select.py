# inductor: wrong strides in output 0 ((2,) for (1,)); guilty: inductor / lowerings / select_1
import torch
def program(x0):
    y0 = torch.select(x0, 1, 1)
    y0.fill_(1)
    y1 = torch.clone(y0)
    y0.mul_(2)
    return y1,
inputs = lambda: [torch.randint(-1, 1, (2, 2), generator=torch.Generator().manual_seed(1)).to(torch.int8).transpose(0, 1)]
compiled = torch.compile(program)
for x, y in zip(program(*inputs()), compiled(*inputs())):
    assert x.stride() == y.stride(), (x.stride(), y.stride())
