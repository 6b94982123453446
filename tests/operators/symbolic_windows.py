"""Calls over size symbols of operators on images and signals: windows, shuffles, norms by channel, and grids of few
levels. `symbolic_samples` says what such calls are for."""

from __future__ import annotations

import torch
from symbolic_words import Call, ints, real

WINDOWS: list[Call] = [
    ("aten.pixel_shuffle.default", lambda B, T, H, S: (real(B, T * H * H, S, T), H)),
    ("aten.pixel_unshuffle.default", lambda B, T, H, S: (real(B, T, S * H, T * H), H)),
    ("aten.channel_shuffle.default", lambda B, T, H, S: (real(B, T * H, S), H)),
    ("aten.instance_norm.default",
     lambda B, D, T: (real(B, D, T), real(D), real(D), None, None, True, 0.1, 0.5, False)),
    *((f"aten.fake_quantize_per_tensor_affine{name}.default", lambda B, T: (real(B, T), 0.5, 2, -3, 4))
      for name in ("", "_cachemask")),
    *((f"aten.fake_quantize_per_channel_affine{name}.default",
       lambda B, T: (real(B, 2, T), torch.tensor([0.25, 0.5]), torch.tensor([0, 3], dtype=torch.int32), 1, -3, 4))
      for name in ("", "_cachemask")),
    ("aten.convolution.default",
     lambda B, D, S, T: (real(B, D, T), real(S, D, 3), real(S), [1], [1], [1], False, [0], 1)),
    ("aten.convolution.default",
     lambda B, D, H, T: (real(B, 2 * D, T), real(2 * H, D, 2), None, [2], [0], [1], False, [0], 2)),
    ("aten.convolution.default",
     lambda B, D, T: (real(B, D, T + 2), real(D, 1, 4), real(D), [1], [0], [1], False, [0], D)),
    ("aten.convolution.default",
     lambda B, D, T, S: (real(B, 2, T * D, S * D), real(3, 2, D, D), None, [D, D], [0, 0], [1, 1], False, [0, 0], 1)),
    ("aten.convolution.default",
     lambda B, D, T, S: (real(B, 4, T, S), real(4, D, 3, 2), real(2 * D), [2, 1], [1, 0], [1, 2], True, [1, 0], 2)),
    ("aten.convolution_backward.default", lambda B, D, S, T: (
        real(B, S, T), real(B, D, T), real(S, D, 3), [S], [1], [1], [1], False, [0], 1, [True] * 3)),
    ("aten.convolution_backward.default", lambda B, D, H, T: (
        real(B, 2 * H, T // 2), real(B, 2 * D, T), real(2 * H, D, 2), None, [2], [0], [1], False, [0], 2,
        [True, True, False])),
    ("aten.convolution_backward.default", lambda B, D, T, S: (
        real(B, 3, T, S), real(B, 2, T * D, S * D), real(3, 2, D, D), [3], [D, D], [0, 0], [1, 1], False, [0, 0], 1,
        [False, True, True])),
    ("aten.convolution_backward.default", lambda B, D, T, S: (
        real(B, 2 * D, 2 * T, S), real(B, 4, T, S), real(4, D, 3, 3), [2 * D], [2, 1], [1, 1], [1, 1], True, [1, 0], 2,
        [True] * 3)),
    ("aten.avg_pool2d_backward.default", lambda B, T, S: (
        real(B, T, S), real(B, 2 * T, S), [2, 1], [], [0, 0], False, True, None)),
    ("aten.avg_pool2d_backward.default", lambda B, T, S: (
        real(B, T, S), real(B, 2 * T, S), [3, 3], [2, 1], [1, 1], False, False, None)),
    ("aten.avg_pool3d_backward.default", lambda B, T: (
        real(B, T, 2, T + 1), real(B, T + 1, 3, T + 2), [2, 2, 2], [1, 1, 1], [0, 0, 0], False, True, 5)),
    ("aten._adaptive_avg_pool2d_backward.default", lambda B, T, S: (real(B, T, 1), real(B, 3 * T, S))),
    ("aten._adaptive_avg_pool3d_backward.default", lambda B, T: (real(B, 1, 2, T), real(B, T, 4, T))),
    ("aten.adaptive_max_pool2d_backward.default",
     lambda B, T, S: (real(B, T, S), real(B, 2 * T, 2 * S), ints(4 * T * S, B, T, S))),
    ("aten.adaptive_max_pool3d_backward.default",
     lambda B, T: (real(B, T, T, 2), real(B, 2 * T, T, 3), ints(6 * T * T, B, T, T, 2))),
    ("aten.max_pool3d_with_indices_backward.default", lambda B, T: (
        real(B, T, T, 1), real(B, T, 2 * T, 2), [1, 2, 2], [], [0] * 3, [1] * 3, True, ints(4 * T * T, B, T, T, 1))),
    ("aten.max_pool2d_with_indices_backward.default", lambda B, T, S: (
        real(B, T, S), real(B, 2 * T, 2 * S), [2, 2], [2, 2], [0, 0], [1, 1], False, ints(4 * T * S, B, T, S))),
    ("aten.upsample_nearest1d.default", lambda B, D, T: (real(B, D, T), [2 * T])),
    ("aten.upsample_nearest2d.default", lambda B, D, T, S: (real(B, D, T, S), [4 * T, S], 4.0, 1.0)),
    ("aten._upsample_nearest_exact1d.default", lambda B, D, T: (real(B, D, T), [2 * T], 2.0)),
    ("aten.upsample_nearest2d_backward.default",
     lambda B, D, T, S: (real(B, D, 2 * T, 4 * S), [2 * T, 4 * S], [B, D, T, S])),
    ("aten._upsample_nearest_exact1d_backward.default", lambda B, D, T: (real(B, D, 2 * T), [2 * T], [B, D, T])),
    ("aten.upsample_linear1d.default", lambda B, D, T: (real(B, D, T), [3 * T], False)),
    ("aten.upsample_linear1d.default", lambda B, D, T: (real(B, D, T), [T + 2], True)),
    ("aten.upsample_bilinear2d.default", lambda B, T, S: (real(B, 1, 2 * T, S), [T, S + 1], False)),
    ("aten.upsample_bilinear2d_backward.default",
     lambda B, T, S: (real(B, 1, T, 2 * S), [T, 2 * S], [B, 1, 2 * T, S], False)),
    ("aten.upsample_bicubic2d.default", lambda B, T: (real(B, 1, T, 2), [2 * T, 3], False, 2.0, None)),
    ("aten.upsample_bicubic2d_backward.default", lambda B, T: (real(B, 1, T, 3), [T, 3], [B, 1, T, 2], True)),
    *((f"aten.{kind}_pad{axes}d_backward.default",
       lambda B, T, axes=axes: (real(B, *(T + 2, T + 1, 4)[:axes]), real(B, *(T, T + 1, 3)[:axes]),
                                [[1, 1], [0, 0, 1, 1], [1, 0, 0, 0, 1, 1]][axes - 1]))
      for kind in ("reflection", "replication") for axes in (1, 2, 3)),
    ("aten.grid_sampler_2d_backward.default", lambda B, D, T, S: (
        real(B, D, S, 2), real(B, D, T, 3), real(B, S, 2, 2), 0, 1, True, [True, True])),
    ("aten.conv_transpose1d.default", lambda D, T, S: (real(D, T), real(D, S, 3), None, [2], [1], [1])),
    ("aten.conv_transpose2d.input", lambda B, D, T, S: (real(B, D, T, S), real(D, 2, 2, 2), real(2), [2, 2])),
    ("aten.conv_transpose3d.input", lambda B, T: (real(B, 2, T, 2, T), real(2, 1, 2, 2, 2))),
    ("aten.conv1d.default", lambda D, T: (real(D, T + 1), real(2, D, 3))),
    ("aten.conv1d.default", lambda B, D, T: (real(B, D, T), real(2, D, 3), None, [2], [2], [2])),
    ("aten.conv2d.default", lambda B, D, T, S: (real(B, D, T, S), real(3, D, 3, 2), real(3), [1, 1], [1, 0])),
    ("aten.conv3d.default", lambda B, T: (real(B, 1, T, 3, T), real(2, 1, 2, 2, 2))),
    ("aten.conv1d.padding", lambda B, D, T: (real(B, D, T), real(2, D, 3), None, [1], "same")),
    ("aten.conv2d.padding", lambda B, D, T: (real(B, D, T, T), real(2, D, 3, 3), None, [1, 1], "same", [2, 1])),
    ("aten.conv3d.padding", lambda B, T: (real(B, 1, T, 3, T), real(2, 1, 2, 2, 2), None, [1, 1, 1], "valid")),
    ("aten.im2col.default", lambda B, D, T, S: (real(B, D, T, S), [2, 3], [1, 1], [0, 1], [1, 2])),
    ("aten.col2im.default", lambda B, D, T: (real(B, 4 * D, T * T), [T + 1, T + 1], [2, 2], [1, 1], [0, 0], [1, 1])),
    ("aten.col2im.default", lambda B, D, T: (real(B, 12 * D, T), [4, 3 * T], [4, 3], [1, 1], [0, 0], [1, 3])),
    ("aten.unfold_backward.default", lambda B, T: (real(B, T, 3), [B, T + 2], 1, 3, 1)),
    ("aten.unfold_backward.default", lambda B, T: (real(T, B, 2), [2 * T, B], 0, 2, 2)),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [2])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [T])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [3], [2], [1], False, False)),
    ("aten.avg_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [2, 2], [], [1, 0])),
    ("aten.avg_pool3d.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T + 1), [3], [2], [1], True)),
    ("aten.avg_pool2d.default", lambda B, T, S: (real(B, 1, T + 1, S), [3, 3], [2, 3], [1, 0], True, False)),
    ("aten.max_pool2d.default", lambda B, T, S: (real(B, 1, T + 1, S), [3, 3], [2, 2], [1, 1], [1, 1], True)),
    ("aten.adaptive_avg_pool1d.default", lambda B, D, T: (real(B, D, T), [1])),
    ("aten.adaptive_avg_pool3d.default", lambda B, T: (real(B, T, 2 * T, 2, T), [T, 1, T])),
    ("aten.adaptive_max_pool1d.default", lambda B, D, T: (real(B, D, 2 * T), [T])),
    ("aten.adaptive_max_pool2d.default", lambda B, T, S: (real(B, T, S), [1, 1])),
    ("aten.adaptive_max_pool3d.default", lambda B, T: (real(B, T, T, 2, T), [1, 2, T])),
    ("aten.adaptive_avg_pool1d.default", lambda B, D, T: (real(B, D, 2 * T), [T])),
    ("aten.adaptive_avg_pool2d.default", lambda B, T, S: (real(B, 1, 2 * T, S), [2, 1])),
    ("aten._adaptive_avg_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [1, 1])),
    ("aten.max_pool1d.default", lambda B, D, T: (real(B, D, T), [2], [1])),
    ("aten.max_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [3, 2], [2, 1], [1, 0])),
    ("aten.max_pool3d.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
    ("aten.max_pool1d_with_indices.default", lambda B, D, T: (real(B, D, T), [2])),
    ("aten.max_pool2d_with_indices.default", lambda B, T: (real(B, 1, T, T), [2, 2])),
    ("aten.max_pool3d_with_indices.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
]
