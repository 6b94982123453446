"""Classifier-free guidance with rescale (Common Diffusion Noise Schedules, section 3.4)."""
import torch

GUIDANCE = 7.5
RESCALE = 0.7


def left(noise_uncond, noise_text):
    noise_cfg = noise_uncond + GUIDANCE * (noise_text - noise_uncond)
    std_text = noise_text.std(dim=list(range(1, noise_text.ndim)), keepdim=True)
    std_cfg = noise_cfg.std(dim=list(range(1, noise_cfg.ndim)), keepdim=True)
    rescaled = noise_cfg * (std_text / std_cfg)
    return RESCALE * rescaled + (1 - RESCALE) * noise_cfg


def right(noise_uncond, noise_text):
    noise_cfg = torch.lerp(noise_uncond, noise_text, GUIDANCE)
    factor = noise_text.std() / noise_cfg.std()
    return noise_cfg * (1 + RESCALE * (factor - 1))


def inputs():
    uncond = torch.randn(3, 4, 5, 5)
    strength = torch.tensor([0.05, 0.3, 1.0])[:, None, None, None]
    return uncond, uncond + strength * torch.randn(3, 4, 5, 5)
