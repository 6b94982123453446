import torch


def si_sdr(estimate, reference):
    estimate = estimate - estimate.mean(-1, keepdim=True)
    reference = reference - reference.mean(-1, keepdim=True)
    dot = (estimate * reference).sum(-1, keepdim=True)
    energy = (reference**2).sum(-1, keepdim=True)
    target = dot / energy * reference
    noise = estimate - target
    ratio = (target**2).sum(-1) / (noise**2).sum(-1)
    return -(10 * torch.log10(ratio)).mean()


def inputs():
    reference = torch.randn(3, 20)
    return reference + 0.3 * torch.randn(3, 20), reference
