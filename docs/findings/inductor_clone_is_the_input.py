# inductor: wrong aliasing in output 0 (shares memory with input 0, not with nothing); guilty: inductor / post_grad_passes / reinplace_inplaceable_ops
import torch
def program(x0, x1):
    x0.index_fill_(0, x1, 1)
    y0 = torch.clone(x0)
    return y0,
inputs = lambda: [torch.randn((15, 3, 17), generator=torch.Generator().manual_seed(68)).to(torch.float64), torch.tensor([0])]
compiled = torch.compile(program)
def shared(f, given):
    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]
    return [[x == y for x in places] for y in places]
assert shared(program, inputs()) == shared(compiled, inputs())
