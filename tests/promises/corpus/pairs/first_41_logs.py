# EQUAL (where defined; both -inf at x = 0). log x^2 = 2 log|x|; prod = exp sum log for positives; logsumexp by hand with clamp; rms in log space
import torch


def left(x, w):
    energy = torch.log(x ** 2).mean(1)
    p = torch.sigmoid(w)
    joint = p.prod(dim=-1)
    geo = joint ** (1.0 / p.shape[-1])
    return energy, joint, geo, torch.logsumexp(w, dim=1)


def right(x, w):
    energy = 2 * x.abs().log().mean(1)
    lp = torch.nn.functional.logsigmoid(w)
    joint = lp.sum(-1).exp()
    geo = lp.mean(-1).exp()
    m = w.max(dim=1, keepdim=True).values
    return energy, joint, geo, (m + (w - m).exp().sum(1, keepdim=True).log()).squeeze(1)


torch.manual_seed(0)
inputs = (torch.randn(4, 6), torch.randn(4, 5))
