import torch

SCALE = 1.5


class Guidance:
    """scores from a prompt and from the empty prompt, both before the softmax."""

    def __init__(self, guidance_scale):
        self.guidance_scale = guidance_scale

    def __call__(self, cond, uncond):
        cond = torch.nn.functional.log_softmax(cond, dim=-1)
        uncond = torch.nn.functional.log_softmax(uncond, dim=-1)
        return self.guidance_scale * (cond - uncond) + uncond


def original(cond, uncond):
    return Guidance(SCALE)(cond, uncond)


def ported(cond, uncond):
    both = torch.stack([cond, uncond])
    both = both - both.logsumexp(-1, keepdim=True)
    c, u = both.unbind(0)
    return torch.lerp(u, c, 1 + SCALE)


left, right = original, ported
inputs = (torch.randn(2, 17), torch.randn(2, 17))
