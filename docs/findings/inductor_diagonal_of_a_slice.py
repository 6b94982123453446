# inductor: wrong strides in output 0 ((1,) for (6,)); guilty: inductor / lowerings / diagonal
import torch
def program(x0):
    y0 = torch.flatten(x0)
    y1 = y0[:15]
    y2 = torch.reshape(y1, (3, 5))
    y3 = torch.linalg.diagonal(y2)
    return y3,
inputs = lambda: [torch.randn((5, 4), generator=torch.Generator().manual_seed(1)).transpose(1, 0)]
compiled = torch.compile(program)
for x, y in zip(program(*inputs()), compiled(*inputs())):
    assert x.stride() == y.stride(), (x.stride(), y.stride())
