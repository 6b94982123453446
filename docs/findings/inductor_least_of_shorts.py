# inductor: crash (CppCompileError: std::min of int and short); guilty: inductor / lowerings / minimum
import torch
def program(x0):
    y0 = torch.abs(x0)
    y1 = torch.minimum(x0, y0)
    return y1,
inputs = lambda: [torch.tensor([[[1]]], dtype=torch.int16)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
