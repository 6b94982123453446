# EQUAL
"""The HiFi-GAN vocoder as trained (weight norm on every convolution) and as served (weight norm removed)."""
import torch
from torch import nn
from torch.nn.utils import parametrize
from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig


def trained():
    torch.manual_seed(0)
    config = SpeechT5HifiGanConfig(
        model_in_dim=8, upsample_initial_channel=16, upsample_rates=[2, 2], upsample_kernel_sizes=[4, 4],
        resblock_kernel_sizes=[3, 5], resblock_dilation_sizes=[[1, 3], [1, 3]], normalize_before=False,
        initializer_range=0.2,
    )
    vocoder = SpeechT5HifiGan(config)
    vocoder.apply_weight_norm()
    for name, p in vocoder.named_parameters():
        if name.endswith("original0"):          # g has moved away from |v|
            nn.init.uniform_(p, 0.5, 2.0)
        elif name.endswith("bias"):
            nn.init.normal_(p, std=0.05)
    return vocoder.eval()


def served(vocoder):
    for module in list(vocoder.modules()):
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)
    return vocoder


left = trained()
right = served(trained())      # not a deep copy: copies share the parametrized class


def inputs():
    return {"spectrogram": torch.randn(2, 6, 8)}
