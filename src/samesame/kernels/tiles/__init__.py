"""From tiles back to tensors: offsets become indices, and program ids and lanes vanish."""
