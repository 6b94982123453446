# inductor: crash (BackendCompilerFailed: backend='inductor' raised: RuntimeError: value cannot be converted to type int16_t without overflow); guilty: aot_eager_decomp_partition / decomposition / <OpOverload(op='aten._softmax', overload='default')>
import torch
def program(x0):
    y0 = torch.softmax(x0, 0)
    return y0,
inputs = lambda: [torch.arange(0, dtype=torch.int16)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
