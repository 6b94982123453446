"""Transformers models become graphs both ways, and these compute the model on inputs that were not captured."""

import pytest
import torch

from models import MODELS, build
from samesame.capture import capture
from samesame.operators.execute import execute

pytestmark = pytest.mark.models


def other_inputs(name, attention):
    """Inputs of the same shapes as the example's, and weights of another seed."""
    model, inputs = build(name, attention, seed=5)
    return model, {key: value.flip(0) for key, value in inputs.items()}


@pytest.mark.parametrize("how", ["record", "export"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", MODELS)
def test_graphs_compute_the_model_on_other_inputs_and_weights(name, attention, how):
    model, inputs = build(name, attention)
    graph = capture(model, inputs, how=how)
    assert [root for root, _ in graph.roots] == ["logits"]
    assert {node.name for node in graph.sources("parameter")} == {
        parameter for parameter, _ in model.named_parameters()
    }
    other, fresh = other_inputs(name, attention)
    values = graph.tensors | dict(other.named_parameters()) | fresh
    with torch.inference_mode():
        expected = other(**fresh).logits
    (_, root), = graph.roots
    torch.testing.assert_close(execute(graph, values, precision="own")[root.name], expected, rtol=0, atol=2e-6)
    # Against the model in float64: what is left is its own rounding to float32 inside norms and softmax.
    with torch.inference_mode():
        precise = other.double()(**{k: v.double() if v.is_floating_point() else v for k, v in fresh.items()}).logits
    torch.testing.assert_close(execute(graph, values)[root.name], precise, rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", ["llama", "mixtral", "bert", "vit"])
def test_core_operators_compute_the_same(name):
    model, inputs = build(name, "eager")
    whole, core = (capture(model, inputs, how=how) for how in ("record", "export+decompose"))
    assert not any(node.operator == "aten.linear.default" for node in core.nodes)
    left, right = (execute(graph, graph.tensors)[graph.roots[0][1].name] for graph in (whole, core))
    torch.testing.assert_close(left, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", ["record", "export"])
def test_nodes_of_a_model_name_the_lines_of_its_file(how):
    model, inputs = build("llama")
    graph = capture(model, inputs, how=how)
    places = {(n.origin.module, n.operator): n.origin for n in graph.nodes if not n.is_source}
    rsqrt = places["model.layers.1.input_layernorm", "aten.rsqrt.default"]
    assert rsqrt.file == "transformers/models/llama/modeling_llama.py"
    assert "torch.rsqrt(variance + self.variance_epsilon)" in rsqrt.code
    mask = places["model", "aten.where.self"]
    assert mask.file == "transformers/masking_utils.py" and "torch.where" in mask.code
