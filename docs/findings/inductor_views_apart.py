# inductor: wrong aliasing in output 0 (shares memory with nothing, not with output 1); guilty: aot_eager
import torch
def program(x0):
    y0 = torch.cat([x0, x0])
    y1 = y0.expand(1, 130)
    y1.relu_()
    return y1, y0
inputs = lambda: [torch.arange(65, dtype=torch.int8)]
compiled = torch.compile(program)
def shared(f, given):
    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]
    return [[x == y for x in places] for y in places]
assert shared(program, inputs()) == shared(compiled, inputs())
