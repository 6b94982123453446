"""A block of a model, with the inputs that it gets when the model runs."""

from __future__ import annotations

import copy
import runpy
import warnings

import pytest
import torch
from tests.optimize.compiled_programs import compile_program
from typer.testing import CliRunner

from samesame import check
from samesame.capture import capture
from samesame.capture.checkpoints.blocks import block
from samesame.capture.checkpoints.folders import tiny
from samesame.capture.program import Program
from samesame.capture.targets import load_target
from samesame.cli import app
from samesame.evidence import Refused, Rung
from samesame.optimize import attempt as attempts
from samesame.optimize import timing, verb
from samesame.optimize.algebra import specified
from samesame.optimize.native import in_stages, native
from samesame.optimize.tune import tune
from samesame.optimize.verb import optimize


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny({"model_type": "llama", "num_key_value_heads": 8}, tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def program(llama):
    return load_target(f"hf:{llama}")


def test_a_block_comes_with_the_inputs_it_gets(program):
    found, inputs = block(program, "model.layers.1.mlp")
    model, given = program.model, program.example
    assert found is model.model.layers[1].mlp and list(inputs) == ["x"]
    seen = []
    handle = found.register_forward_hook(lambda module, args, output: seen.append((args[0], output)))
    with torch.no_grad():
        model(**given, use_cache=False)
        handle.remove()
        torch.testing.assert_close(inputs["x"], seen[0][0])
        torch.testing.assert_close(found(**inputs), seen[0][1])


def test_the_model_may_be_given_other_inputs_and_arguments_have_their_names(program):
    tokens = torch.ones(1, 5, dtype=torch.int64)
    found, inputs = block(program, "model.layers.0.self_attn", {"input_ids": tokens})
    assert inputs["hidden_states"].shape[:2] == (1, 5) and len(inputs["position_embeddings"]) == 2
    with torch.no_grad():
        assert found(**inputs)[0].shape == inputs["hidden_states"].shape


@pytest.mark.long
def test_a_decoder_layer_becomes_kernels(program):
    """Rotary embeddings, grouped heads, a causal mask, a gated MLP: no call of torch is left, and each loop nest is
    proved for all tiles."""
    module, inputs = block(program, "model.layers.0")
    graph = capture(module, inputs)
    specification = specified(module, inputs, graph)
    forms = [root.form for root in specification.roots()]
    whole, kept = in_stages(specification, forms)
    made = native(whole, lambda programs, sizes, share: tune(programs, sizes, {}, 0.3), kept)
    weights = made.named("weight")
    run = compile_program(made.program, made.named("input"), weights, [output.name for output in whole.outputs])
    given = dict(Program(module, inputs).given)
    given |= {name: module.get_parameter(specification.tensors[name].path) for name in weights}
    with torch.no_grad():
        (found,) = run(*(given[name].detach() for name in run.arguments))
        wanted = module(**inputs)
    wanted = wanted[0] if isinstance(wanted, tuple) else wanted
    torch.testing.assert_close(found.view(wanted.shape), wanted, rtol=1e-4, atol=1e-5)


def test_what_is_no_block_is_refused(program, llama):
    with pytest.raises(Refused, match=r"no module model.layers.0.mlpp; it has model.layers.0.mlp"):
        block(program, "model.layers.0.mlpp")
    with pytest.raises(Refused, match="taken from a model of Transformers"):
        block(torch.nn.Linear(2, 2), "x")
    ran = CliRunner().invoke(app, ["optimize", f"hf:{llama}"])
    assert ran.exit_code == 2


@pytest.mark.long
@pytest.mark.parametrize("path", ["model.layers.0.mlp", "model.layers.0.self_attn", "model.layers.0"])
def test_a_model_with_what_was_found_in_it_is_the_same(program, path, tmp_path, monkeypatch):
    """Searched, proved, saved, loaded and put into the model, which check proves the same and which computes it."""
    monkeypatch.setattr(verb.Attempt, "ways", ("eager",))
    monkeypatch.setattr(attempts, "NEAR", 1e9)
    monkeypatch.setattr(timing.Racer, "beats", lambda self, other: True)     # however busy this machine is
    module, inputs = block(program, path)
    report = optimize(module, inputs, minutes=5, threads=1, out=tmp_path / "fast").report
    assert report.verdict == "faster" and report.kernels and report.proof is not None
    model, other = program.model, copy.deepcopy(program.model)
    fast = runpy.run_path(str(tmp_path / "fast" / "fast.py"))
    above, _, name = path.rpartition(".")
    setattr(other.get_submodule(above), name, fast["optimized"](other.get_submodule(path)))
    given = program.example | {"use_cache": False}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")                                       # which the original in its place would say
        torch.testing.assert_close(other(**given)[0], model(**given)[0], rtol=1e-4, atol=1e-4)
    with torch.no_grad():                                                    # else the original runs, and is recorded
        before, after = ([node.operator for node in capture(which, given).nodes] for which in (model, other))
        assert before != after
        verdict = check(model, other, given)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
