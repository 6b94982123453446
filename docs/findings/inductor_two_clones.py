# inductor: wrong aliasing in output 0 (shares memory with output 1, not with nothing); guilty: inductor
import torch
def program(x):
    y = torch.neg(x)
    return torch.clone(y), torch.clone(y)
compiled = torch.compile(program)
for f in program, compiled:
    a, b = f(torch.ones(3))
    a.add_(10)
    print(a, b)
    torch.testing.assert_close(b, -torch.ones(3))         # nobody wrote into b
