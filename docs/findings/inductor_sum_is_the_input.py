# inductor: wrong aliasing in output 0 (shares memory with input 0, not with nothing); guilty: inductor / joint_graph_passes / constant_fold_uniform_value
import torch
def program(x0):
    y0 = torch.tensor(0.0, dtype=torch.float32)
    y1 = torch.add(x0, y0)
    return y1,
inputs = lambda: [torch.ones((1, 1))]
compiled = torch.compile(program)
def shared(f, given):
    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]
    return [[x == y for x in places] for y in places]
assert shared(program, inputs()) == shared(compiled, inputs())
