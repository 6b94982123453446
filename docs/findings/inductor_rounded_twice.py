# inductor: wrong aliasing in output 0 (shares memory with output 1, not with nothing); guilty: inductor
import torch
def program(x0):
    y0 = torch.square(x0)
    y1 = torch.trunc(y0)
    y2 = torch.trunc(y1)
    return y1, y2
inputs = lambda: [torch.ones((1,), dtype=torch.bool)]
compiled = torch.compile(program)
def shared(f, given):
    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]
    return [[x == y for x in places] for y in places]
assert shared(program, inputs()) == shared(compiled, inputs())
