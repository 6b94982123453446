# inductor: crash (RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.); guilty: inductor / post_grad_passes / reinplace_inplaceable_ops
import torch
def program(x0, x1):
    y0 = torch.fft.fftn(x0, dim=-1)
    y1 = torch.flatten(y0)
    y2 = y1[:1]
    y3 = torch.put(y0, x1, y2, True)
    return y3,
inputs = lambda: [torch.arange(210, dtype=torch.int8).reshape(5, 6, 7), torch.tensor(0, dtype=torch.int64)]
compiled = torch.compile(program)
program(*inputs())                      # eager torch runs it
compiled(*inputs())
