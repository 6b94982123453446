# EQUAL. gradients of a 2-layer MLP with mse: loss.backward() vs the hand-written backward pass
import torch
import torch.nn.functional as F


def left(x, y, W1, b1, W2, b2):
    ps = [p.detach().clone().requires_grad_(True) for p in (W1, b1, W2, b2)]
    with torch.enable_grad():
        h = torch.tanh(x @ ps[0] + ps[1])
        loss = F.mse_loss(h @ ps[2] + ps[3], y)
        loss.backward()
    return (loss.detach(), *[p.grad for p in ps])


def right(x, y, W1, b1, W2, b2):
    h = torch.tanh(x @ W1 + b1)
    e = h @ W2 + b2 - y
    dout = 2 * e / e.numel()
    dh = dout @ W2.T * (1 - h * h)
    return (e ** 2).mean(), x.T @ dh, dh.sum(0), h.T @ dout, dout.sum(0)


torch.manual_seed(0)
inputs = (torch.randn(6, 4), torch.randn(6, 2), torch.randn(4, 5), torch.randn(5), torch.randn(5, 2), torch.randn(2))
