# inductor: wrong aliasing in output 0 (shares memory with output 1, not with nothing); guilty: inductor / lowerings / cat
import torch
def program(x0):
    y0 = torch.flip(x0, (0,))
    y1 = torch.cat([x0, y0])
    y2 = torch.select(y0, 0, -1)
    return y1, y2
inputs = lambda: [torch.tensor([1, 0])]
compiled = torch.compile(program)
def shared(f, given):
    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]
    return [[x == y for x in places] for y in places]
assert shared(program, inputs()) == shared(compiled, inputs())
