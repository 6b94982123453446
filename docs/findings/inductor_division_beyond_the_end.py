# inductor: crash (ZeroDivisionError: lanes that a pad leaves out are divided by 0); guilty: inductor / lowerings / constant_pad_nd
import torch
def program(x0, x1):
    y0 = torch.minimum(x1, x0)
    y1 = torch.remainder(x0, x0)
    y2 = torch.floor(y1)
    y3 = torch.sign(y1)
    y4 = torch.mul(y3, 2)
    y5 = torch.logical_and(y2, y3)
    y6 = torch.flip(y4, (0,))
    y7 = torch.logical_xor(y6, y3)
    y8 = torch.reshape(y7, (8,))
    y9 = torch.logical_xor(y8, y5)
    y10 = torch.clamp_min(y9, -1)
    y11 = torch.le(y10, y10)
    y12 = torch.ne(y11, y11)
    y13 = torch.nn.functional.pad(y12, (1, 2))
    return y13,
inputs = lambda: [torch.randint(-8, 9, (8,), generator=torch.Generator().manual_seed(610)).to(torch.int8), torch.randint(-8, 9, (8,), generator=torch.Generator().manual_seed(726)).to(torch.int8)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
