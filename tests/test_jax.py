"""Blocks written in JAX and in torch are the same, their twins different; what cannot be walked is said."""

import pytest
import torch

from samesame import check
from samesame.capture import capture, load_target
from samesame.evidence import Refused

pytest.importorskip("jax", reason="the extra jax is not installed")

from jax_blocks import in_jax, in_torch

DICE = torch.Generator().manual_seed(1)
X = torch.randn(2, 5, 8, generator=DICE)
INPUTS = {
    "cached_attention": (X[:, :1], torch.randn(2, 6, 8, generator=DICE), torch.randn(2, 6, 8, generator=DICE)),
    "conv_net": (torch.randn(2, 3, 6, 6, generator=DICE),),
    "cross_entropy": (torch.randn(4, 7, generator=DICE), torch.tensor([1, 6, 0, 3], dtype=torch.int32)),
    "embedding": (torch.tensor([[1, 10, 0], [3, 3, 7]], dtype=torch.int32),),
}
BLOCKS = ("embedding", "rms_norm", "layer_norm", "swiglu", "gelu_mlp", "rope", "attention", "cached_attention",
          "experts", "conv_net", "cross_entropy", "recurrence")


@pytest.fixture(scope="module")
def target():
    return lambda name: load_target(f"jax:{in_jax.__file__}:{name}")


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_in_both_is_the_same_and_its_twin_differs(name, target):
    inputs = INPUTS.get(name, (X,))
    same = check(getattr(in_torch, name), target(name), inputs)
    assert same.verdict == "same" and "PROVED" in same.evidence.name, (same.verdict, same.evidence, same.notes)
    assert check(getattr(in_torch, f"other_{name}"), target(name), inputs).verdict == "different"


# ---------------------------------------------------------------------------------------------- one file of strangers

FILE = """
import functools
import jax
import jax.numpy as jnp
import numpy as np

W = jnp.arange(12, dtype=jnp.float32).reshape(4, 3) / 7 - 0.5

def draws(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)

def by_data(x):
    return jax.lax.cond(x.sum() > 0, lambda x: x, lambda x: -x, x)

def unknown(x):
    return jax.scipy.special.digamma(x)

def by_size(x):
    return x * 2 if x.shape[0] > 3 else x * 3

def bound(w, x):
    return {"y": jnp.cumsum(x @ w["a"][0], 0), "best": jax.lax.top_k(x, 2)}

partial = functools.partial(bound, {"a": [W]})

def loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) + i, x)

def last_of(x, i):
    return jnp.where(i < 0, i + 2, i)[:, None] * 0 + x[jnp.where(i < 0, i + 2, i)]

def cut(x, i):
    return jax.lax.dynamic_slice(x, (i, 0), (2, 4))

def clipped(x, i):
    return jnp.take(x, i, axis=0, mode="clip")

def padded(x):
    return jnp.pad(x, ((1, 0), (0, 2)))[::-1, 1:] + jnp.where(x.sum() > 0, 1.0, 0.0) * jnp.ones((4, 5))

ONES, SCALE = jnp.ones(4), np.ones(4, dtype="float32")

@jax.jit
def scaled(x):
    return x * ONES * SCALE

def calls(x):
    return jax.lax.scan(lambda state, row: (state + scaled(row), state), jnp.zeros(4), x)[1]

def literal(x):
    return x * np.ones(4, dtype="float32") + 0 * ONES

class Held:
    def __init__(self):
        self.parts = {"a": ONES}

    def __call__(self, x):
        return x * self.parts["a"]

held = Held()

def least(x):
    return jnp.where(x > 0, x, jnp.finfo("float32").min)

def until(x):
    return jax.lax.while_loop(lambda s: s.sum() < 100, lambda s: s * 2 + 1, x)

def running(x):
    def step(total, row):
        total = total + row
        return total, total
    return jax.lax.scan(step, jnp.zeros(4), x)[1]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("jax") / "strange.py"
    path.write_text(FILE)
    return path


ROWS = torch.randn(3, 4, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("name, words", [
    ("draws", r"strange\.py:10 draws random numbers"),
    ("by_data", r"strange\.py:13 .*so the graph depends on data"),
    ("until", r"strange\.py:66 .*so the graph depends on data"),
    ("unknown", r"strange\.py:16 uses JAX's digamma, which samesame has no meaning for"),
])
def test_what_cannot_be_walked_is_said_with_its_line(file, name, words):
    with pytest.raises(Refused, match=words):
        capture(load_target(f"jax:{file}:{name}"), (ROWS,))


def test_weights_that_are_bound_have_the_names_of_their_places(file):
    graph = capture(load_target(f"jax:{file}:partial"), (ROWS,))
    assert [node.origin.parameter for node in graph.sources("parameter")] == ["0.a.0"]
    assert {name for name, _ in graph.roots} == {"y", "best.0", "best.1"}


@pytest.mark.parametrize("name, weights", [
    ("scaled", ["ONES", "SCALE"]),                                      # inside of jit
    ("calls", ["ONES", "SCALE"]),                                       # of a function that a scan's step calls
    ("held", ["parts.a"]),                                              # an attribute of no pytree
    ("least", []),
])
def test_weights_are_found_where_they_are_held(file, name, weights):
    graph = capture(load_target(f"jax:{file}:{name}"), (ROWS,))         # JAX computes what its graph does
    assert sorted(node.origin.parameter for node in graph.sources("parameter")) == weights


def test_a_literal_is_no_weight_that_holds_equal_numbers(file):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return x * self.w

    verdict = check(Scale(), load_target(f"jax:{file}:literal"), (ROWS,))
    assert verdict.verdict == "different" or "for these weights" in verdict.only


def test_loops_and_slices(file):
    def loop(x):
        for i in range(3):
            x = torch.sin(x) + i
        return x

    assert check(loop, load_target(f"jax:{file}:loop"), (ROWS,)).verdict == "same"
    capture(load_target(f"jax:{file}:padded"), (ROWS,))                 # JAX computes what its graph does


@pytest.mark.long
def test_a_scan_is_proved_for_every_length(file):
    verdict = check(lambda x: torch.cumsum(x, 0), load_target(f"jax:{file}:running"), (ROWS,))
    assert verdict.verdict == "same" and any("x.shape[0]" in said for said in verdict.sizes.varying), verdict.sizes


def test_a_branch_on_a_size_is_not_proved_for_all_sizes(file):
    """JAX asks while it traces, where nobody follows: no bound is known, and only sizes like those run are claimed."""
    verdict = check(lambda x: x * 3, load_target(f"jax:{file}:by_size"), (ROWS,))
    assert verdict.verdict == "different" or verdict.evidence.name != "PROVED"


@pytest.mark.parametrize("name, index, other", [
    ("last_of", torch.tensor([0, -1, 2], dtype=torch.int32), lambda x, i: x[i.long()]),
    ("cut", torch.tensor(-2, dtype=torch.int32), lambda x, i: x[:2] + 0 * i),
    ("clipped", torch.tensor([0, 5, 2], dtype=torch.int32), lambda x, i: x[i.long() % 3]),
])
def test_indices_out_of_the_ordinary_are_what_jax_makes_of_them(file, name, index, other):
    program, inputs = load_target(f"jax:{file}:{name}"), (ROWS, index)
    capture(program, inputs)                                            # JAX computes what its graph does
    assert check(other, program, inputs).verdict == "different"
