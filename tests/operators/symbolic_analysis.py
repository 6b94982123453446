"""Calls over size symbols of what numerical programs are made of: special functions, distances, counts and spectra."""

from __future__ import annotations

import torch
from symbolic_words import Call, bools, cplx, ints, pos, real, share

ROW = torch.tensor([-1.0, 0.25, 0.25, 1.5])

ANALYSIS: list[Call] = [
    *[(f"aten.{name}.default", lambda B, T: (pos(B, T),)) for name in ("lgamma", "digamma")],
    *[(f"aten.{name}.default", lambda B, T: (share(B, T),)) for name in ("erfinv", "special_ndtri")],
    ("aten.mvlgamma.default", lambda B, T: (pos(B, T), 1)),
    *[(f"aten.{name}.default", lambda B, T: (real(B, T),))
      for name in ("angle", "signbit", "isinf", "isneginf", "isposinf", "nan_to_num")],
    *[(f"aten.{name}", lambda B, T: (real(B, 1), real(T))) for name in ("atan2.default", "copysign.Tensor")],
    ("aten.ldexp.Tensor", lambda B, T: (real(B, T), ints(3, T))),
    ("aten.round.decimals", lambda B, T: (real(B, T), {"decimals": 1})),
    ("aten.nansum.default", lambda B, T: (real(B, T), [1])),
    ("aten.cummax.default", lambda B, T: (ints(T, B, T), 1)),
    # distances
    ("aten._euclidean_dist.default", lambda B, T, S, D: (real(B, T, D), real(B, S, D))),
    ("aten._pdist_forward.default", lambda D: (real(4, D), 2.0)),
    ("aten.dist.default", lambda B, T: (real(B, T), real(T), 1)),
    ("aten.renorm.default", lambda B, T: (real(B, T), 2, 0, 1.0)),
    ("aten.embedding_renorm.default", lambda B, T, D: (real(T, D), ints(T, B), 1.0, 2.0)),
    ("aten._trilinear.default",
     lambda B, T, S, D: (real(B, T), real(D, T, S), real(B, S), [1, 3], [0], [1, 2], [2, 3])),
    ("aten.multi_margin_loss.default", lambda B, T: (real(B, T), ints(T, B), 2, 1.0, pos(T))),
    ("aten._cdist_backward.default",
     lambda B, T, S, D: (real(B, T, S), real(B, T, D), real(S, D), 2.0, pos(B, T, S))),
    ("aten._weight_norm_interface_backward.default",
     lambda B, T: (real(B, T), real(B, T), real(B, 1), pos(B, 1), 0)),
    *((f"aten.{name}shrink_backward.default", lambda B, T: (real(B, T), real(B, T), 0.25))
      for name in ("hard", "soft")),
    ("aten._unsafe_masked_index.default",
     lambda B, T, S: (real(T, 3), bools(B, S), [ints(T, B, S), ints(3, S)], 0.5)),
    # counts
    ("aten.bucketize.Tensor", lambda B, T: (real(B, T), ROW)),
    ("aten.bucketize.Scalar", lambda: (0.25, ROW, {"right": True})),
    ("aten.searchsorted.Tensor", lambda B, T: (ROW, real(B, T), {"right": True})),
    ("aten.searchsorted.Scalar", lambda: (ROW, 0.25)),
    ("aten.histc.default", lambda B, T: (real(B, T), 5, -1, 1)),
    # movements
    ("aten.rot90.default", lambda B, T, D: (real(B, T, D), 1, [1, 2])),
    ("aten.rot90.default", lambda B, T: (real(B, T), -1)),
    ("aten.block_diag.default", lambda B, T, S: ([real(B, T), real(S), real(1, S)],)),
    ("aten.masked_scatter.default", lambda B, T, D: (real(B, T, D), bools(B, T, 1), real(B * T, D))),
    ("aten.masked_scatter.default", lambda T, D: (real(T), bools(T), real(T + D))),
    # grids
    ("aten.affine_grid_generator.default", lambda B, T, S: (real(B, 2, 3), [B, 1, T, S], True)),
    ("aten.affine_grid_generator.default", lambda B, T, S, D: (real(B, 3, 4), [B, 1, T, S, D], False)),
    ("aten.grid_sampler_2d.default", lambda B, T, S: (real(B, 2, T, S), real(B, T, 3, 2), 0, 0, False)),
    ("aten.grid_sampler_2d.default", lambda B, T, S: (real(B, 2, T, S), real(B, S, T, 2), 0, 1, True)),
    # spectra
    *[(f"aten.fft_{name}.default", lambda T: (T, 0.5)) for name in ("fftfreq", "rfftfreq")],
    *[(f"aten.{name}_window.periodic", lambda T, periodic=periodic: (T, periodic))
      for name in ("hann", "hamming", "blackman", "bartlett") for periodic in (True, False)],
    ("aten._fft_c2c.default", lambda B, T: (cplx(B, T), [1], 1, True)),
    ("aten._fft_c2c.default", lambda B, T: (cplx(B, T), [0, 1], 2, False)),
    ("aten._fft_r2c.default", lambda B, T: (real(B, T), [1], 0, True)),
    ("aten._fft_r2c.default", lambda B, T: (real(B, T), [1], 0, False)),
    ("aten._fft_c2r.default", lambda B, T: (cplx(B, T + 1), [1], 2, 2 * T)),
    ("aten._fft_c2r.default", lambda B, T: (cplx(B, T // 2 + 1), [1], 0, T)),
]
