"""Images and grids: windows that reach over the end, transposed convolutions, channels that change places, numbers
rounded to few levels."""

import torch
import torch.nn.functional as F

from pairs.pair import Pair, inputs, twins, vary

# 32: windows over the end, and transposed convolution


def pooled(x):
    return F.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False), F.max_pool2d(x, 3, 2, ceil_mode=True)


def padded(x, outside=-torch.inf, counted=0.0):
    """Windows of 3 by 2 over an even number of places need one more."""
    def windows(t, value):
        return F.pad(t, (0, 1, 0, 1), value=value).unfold(2, 3, 2).unfold(3, 3, 2)

    held = windows(torch.ones_like(x[:1, :1]), counted).sum((-1, -2))
    return windows(x, 0.0).sum((-1, -2)) / held, windows(x - 5, outside).amax((-1, -2)) + 5


def spread(x, weight):
    return F.conv_transpose2d(x, weight, stride=2, padding=1, output_padding=1)


def stuffed(x, weight, turned=(2, 3), before=1):
    """Zeros between the elements, then an ordinary convolution with the kernel turned round."""
    n, channels, h, w = x.shape
    wide = x.new_zeros(n, channels, 2 * h - 1, 2 * w - 1)
    wide[:, :, ::2, ::2] = x
    return F.conv2d(F.pad(wide, (before, 3 - before) * 2), weight.flip(turned).transpose(0, 1))


# 33: channels that change places, and numbers rounded to few levels


def shuffled(x):
    return F.pixel_shuffle(F.channel_shuffle(x, 2), 2)


def rearranged(x, groups=2):
    n, channels, h, w = x.shape
    x = x.view(n, groups, channels // groups, h, w).transpose(1, 2).reshape(x.shape)
    return x.view(n, -1, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, -1, 2 * h, 2 * w)


def on_a_grid(x):
    return torch.fake_quantize_per_tensor_affine(x, 0.25, 3, -8, 7)


def rounded(x, low=-8, added=0.0):
    return (torch.clamp(torch.round(x / 0.25 + 3 + added), low, 7) - 3) * 0.25


def on_grids(x):
    scales, zeros = torch.tensor([0.5, 0.25, 0.125]), torch.tensor([0, 2, -3], dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(x, scales, zeros, 1, -8, 7)


def rounded_by_channel(x, zeros=(0, 2, -3)):
    levels = zip(x.unbind(1), (0.5, 0.25, 0.125), zeros, strict=True)
    return torch.stack([((c * (1 / s)).add(z).round().clamp(-8, 7) - z) * s for c, s, z in levels], 1)


IMAGE = inputs((2, 3, 6, 6))
SPREAD = inputs((2, 3, 4, 5), (3, 4, 3, 3))
CHANNELS = inputs((2, 8, 3, 5))

PAIRS = [
    Pair("pooling over the end and windows over padding", 32, pooled, padded, IMAGE,
         twins(zeros_among_the_greatest=vary(padded, outside=0.0), padding_counted=vary(padded, counted=1.0))),
    Pair("transposed convolution and zeros in between", 32, spread, stuffed, SPREAD,
         twins(kernel_turned_in_one_dimension=vary(stuffed, turned=(2,)), shifted=vary(stuffed, before=2))),
    Pair("shuffles and permutations", 33, shuffled, rearranged, CHANNELS,
         twins(other_number_of_groups=vary(rearranged, groups=4))),
    Pair("fake quantisation and rounding", 33, on_a_grid, rounded, inputs((4, 40), scale=2.0),
         twins(one_level_fewer=vary(rounded, low=-7), half_up=vary(rounded, added=0.125))),
    Pair("fake quantisation by channel and rounding", 33, on_grids, rounded_by_channel, inputs((5, 3, 4), scale=2.0),
         twins(no_zero_points=vary(rounded_by_channel, zeros=(0, 0, 0)))),
]
