"""Every claim, by theme: the list that the prover is measured against."""

from __future__ import annotations

import claims_activations
import claims_backward
import claims_indexing
import claims_logarithms
import claims_loops
import claims_tilings
import formula_claims

ALL = [
    *formula_claims.CLAIMS,
    *claims_tilings.CLAIMS,
    *claims_activations.CLAIMS,
    *claims_logarithms.CLAIMS,
    *claims_backward.CLAIMS,
    *claims_indexing.CLAIMS,
    *claims_indexing.CONVOLUTIONS,
    *claims_indexing.BLOCKS,
    *claims_loops.CLAIMS,
]
