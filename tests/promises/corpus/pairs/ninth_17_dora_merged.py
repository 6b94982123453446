# EQUAL
import torch
import torch.nn.functional as F

SCALING = 2.0


def left(x, weight, bias, lora_a, lora_b, magnitude):
    """merged for inference"""
    merged = weight + SCALING * (lora_b @ lora_a)
    norm = merged.norm(p=2, dim=1, keepdim=True)
    return F.linear(x, magnitude[:, None] * merged / norm, bias)


def right(x, weight, bias, lora_a, lora_b, magnitude):
    """beside the base layer, as peft runs it"""
    base = F.linear(x, weight, bias)
    norm = torch.linalg.norm(weight + lora_b @ lora_a * SCALING, dim=1)
    ratio = (magnitude / norm).view(1, -1)
    extra = (ratio - 1) * (base - bias) + ratio * F.linear(F.linear(x, lora_a), lora_b) * SCALING
    return base + extra


def inputs():
    torch.manual_seed(2402)
    return (
        torch.randn(5, 8), torch.randn(6, 8), torch.randn(6),
        torch.randn(2, 8), torch.randn(6, 2), torch.rand(6) + 0.5,
    )
