# inductor: crash (InductorError: TypeError: A Boolean argument can only be used in Eq and Ne; all other); guilty: inductor / lowerings / eq
import torch
def program(x0):
    y0 = torch.pow(x0, 0)
    y1 = torch.logical_not(y0)
    y2 = torch.eq(y1, y1)
    return y2,
inputs = lambda: [torch.tensor([[[1]]], dtype=torch.int64)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
