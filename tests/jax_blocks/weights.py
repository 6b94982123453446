"""The numbers that both sides load."""

import numpy as np

DICE = np.random.default_rng(0)
SHAPES = {
    "scale": (8,), "shift": (8,), "gate": (8, 12), "up": (8, 12), "down": (12, 8), "q": (8, 8), "k": (8, 8),
    "v": (8, 8), "o": (8, 8), "router": (8, 3), "experts": (3, 8, 5), "kernel": (4, 3, 3, 3), "bias": (4,),
    "table": (11, 8),
}
WEIGHTS = {name: DICE.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}


def random_like(tree):
    """A pytree with random numbers in the place of its arrays: fresh norms and biases are all alike."""
    import jax

    dice = np.random.default_rng(1)

    def drawn(leaf):
        if not isinstance(leaf, jax.Array):
            return leaf
        return jax.numpy.asarray(dice.normal(size=leaf.shape) * 0.5, leaf.dtype)

    return jax.tree_util.tree_map(drawn, tree)


def to_torch(tree):
    """A pytree's arrays as tensors."""
    import jax
    import torch

    return jax.tree_util.tree_map(lambda leaf: torch.from_numpy(np.array(leaf)), tree)
