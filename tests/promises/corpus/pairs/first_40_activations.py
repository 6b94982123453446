# EQUAL. mish by e^x arithmetic (as in YOLO exports), softplus by log1p, gelu-tanh by a sigmoid, hardswish by clamp
import math
import torch
import torch.nn.functional as F


def left(x):
    return {"mish": F.mish(x), "softplus": F.softplus(x, beta=2.0), "gelu": F.gelu(x, approximate="tanh"),
            "hs": F.hardswish(x), "silu": F.silu(x)}


def right(x):
    e = torch.exp(x)
    n = e * (e + 2)
    c = 2 * math.sqrt(2 / math.pi)
    return {
        "mish": x * n / (n + 2),
        "softplus": 0.5 * (torch.relu(2 * x) + torch.log1p(torch.exp(-2 * x.abs()))),
        "gelu": x * torch.sigmoid(c * x * (1 + 0.044715 * x * x)),
        "hs": x * (x + 3).clamp(0, 6) / 6,
        "silu": x * 0.5 * (1 + torch.tanh(x / 2)),
    }


torch.manual_seed(0)
inputs = (torch.randn(3, 10),)
