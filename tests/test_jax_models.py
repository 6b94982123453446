"""Modules of flax and equinox, and a Llama written in JAX, are the same as their counterparts in torch; their twins
differ."""

import importlib

import pytest

from samesame import check
from samesame.capture import load_target

pytest.importorskip("jax", reason="the extra jax is not installed")

WAYS = {
    "flax": [("in_linen", "partial"), ("in_linen", "bound"), ("in_linen", "applied"), ("in_nnx", "module"),
             ("in_nnx", "merged")],
    "equinox": [("in_equinox", "module"), ("in_equinox", "jitted")],
}


def sides(file, way, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    blocks = importlib.import_module(f"jax_blocks.{file}")
    return blocks, load_target(f"jax:{blocks.__file__}:{way}")


@pytest.mark.long
@pytest.mark.parametrize("library, file, way", [(library, *case) for library, cases in WAYS.items() for case in cases])
def test_a_module_is_the_same_as_its_counterpart_and_its_twin_differs(library, file, way):
    blocks, target = sides(file, way, library)
    same = check(blocks.InTorch(), target, blocks.inputs)
    assert same.verdict == "same" and "PROVED" in same.evidence.name, (same.verdict, same.evidence, same.notes)
    assert check(blocks.twin(), target, blocks.inputs).verdict == "different"


@pytest.mark.long
@pytest.mark.parametrize("way", ["in_jax", "in_a_scan"])
def test_a_llama_is_the_same_as_in_transformers(way):
    llama, target = sides("llama", way, "transformers")
    same = check(llama.Logits(), target, llama.inputs)
    assert same.verdict == "same" and "PROVED" in same.evidence.name, (same.verdict, same.evidence, same.notes)


@pytest.mark.long
@pytest.mark.parametrize("way, place", [("other_base", "rotated"), ("other_eps", "rms_norm"), ("other_act", "block")])
def test_a_llama_with_another_setting_differs_there(way, place):
    llama, target = sides("llama", way, "transformers")
    other = check(llama.Logits(), target, llama.inputs)
    assert other.verdict == "different" and other.divergence.right.origin.function == place, other.divergence
