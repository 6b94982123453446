# inductor: crash (BackendCompilerFailed: backend='inductor' raised: RuntimeError: Only Tensors of floating point and complex dtype can require gradients); guilty: inductor / joint_graph_passes / pass_pattern_0
import torch
def program(x0):
    y0 = torch.gt(x0, x0)
    y1 = torch.logical_not(x0)
    y2 = torch.transpose(y1, 0, 1)
    y3 = torch.mm(y0, y2)
    return y3,
inputs = lambda: [torch.ones((0, 1), dtype=torch.uint8)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
