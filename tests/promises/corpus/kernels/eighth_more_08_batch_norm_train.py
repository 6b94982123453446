import torch
import triton
import triton.language as tl


# attorch-like batch norm in training: a program for each channel, running statistics updated in place.
@triton.jit
def bn_train(x_ptr, w_ptr, b_ptr, rm_ptr, rv_ptr, y_ptr, C, S, count, momentum, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + (i // S) * C * S + c * S + i % S, mask=i < count, other=0.0)
    mean = tl.sum(acc, axis=0) / count
    sq = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + (i // S) * C * S + c * S + i % S, mask=i < count, other=0.0)
        d = tl.where(i < count, x - mean, 0.0)
        sq += d * d
    total = tl.sum(sq, axis=0)
    scale = tl.load(w_ptr + c) / tl.sqrt(total / count + eps)
    shift = tl.load(b_ptr + c) - mean * scale
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = (i // S) * C * S + c * S + i % S
        x = tl.load(x_ptr + at, mask=i < count, other=0.0)
        tl.store(y_ptr + at, x * scale + shift, mask=i < count)
    tl.store(rm_ptr + c, (1.0 - momentum) * tl.load(rm_ptr + c) + momentum * mean)
    tl.store(rv_ptr + c, (1.0 - momentum) * tl.load(rv_ptr + c) + momentum * total / (count - 1))


def launch(batch=3, channels=5, space=14):
    x = torch.randn(batch, channels, space, device="cuda")
    weight = torch.randn(channels, device="cuda")
    bias = torch.randn(channels, device="cuda")
    running_mean = torch.randn(channels, device="cuda")
    running_var = torch.rand(channels, device="cuda")
    y = torch.empty_like(x)
    bn_train[(channels,)](x, weight, bias, running_mean, running_var, y, channels, space, batch * space, 0.1, 1e-5, BLOCK=16)
    return y, running_mean, running_var


def reference(x, weight, bias, running_mean, running_var):
    mean = x.mean((0, 2))
    var = x.var((0, 2), unbiased=False)
    y = (x - mean[:, None]) / torch.sqrt(var[:, None] + 1e-5) * weight[:, None] + bias[:, None]
    new_mean = 0.9 * running_mean + 0.1 * mean
    new_var = 0.9 * running_var + 0.1 * x.var((0, 2), unbiased=True)
    return y, new_mean, new_var


TRUTH = "verified"
