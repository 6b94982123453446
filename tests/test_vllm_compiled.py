"""vLLM with itself: the graph that it traces for a compiler, and the modules that it was traced from."""

import pytest

from samesame import check
from samesame.capture import capture
from samesame.capture.checkpoints.folders import Checkpoint, tiny
from samesame.capture.checkpoints.vllm import load_vllm
from samesame.evidence import Refused
from vllm_models import GROUPED, needs_vllm

pytestmark = [pytest.mark.models, needs_vllm]


def program(place, text="vllm:it", **options):
    overrides = options.pop("overrides", {})
    return load_vllm(Checkpoint("vllm", place, options=options, overrides=overrides, text=text))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tiny({"model_type": "llama"}, tmp_path_factory.mktemp("compiled"), GROUPED)


@pytest.fixture(scope="module")
def compiled(place):
    return program(place, compiled=True)


def test_the_compiled_graph_is_the_same_as_the_modules(place, compiled):
    verdict = check(program(place), compiled, None, timeout=120)
    assert verdict.verdict == "same", verdict.notes


@pytest.mark.long
def test_the_compiled_graph_has_no_kernels_where_a_compiler_would_fuse(place, compiled):
    modules = program(place)
    used = [{node.operator for node in capture(each, each.example).nodes} for each in (modules, compiled)]
    assert "_C.rotary_embedding.default" in used[0] - used[1]
    assert "samesame.paged_attention.default" in used[0] & used[1]


@pytest.mark.long
def test_a_compiled_graph_of_another_config_is_told(place, compiled):
    verdict = check(program(place, overrides={"rms_norm_eps": 1e-3}), compiled, None, timeout=120)
    assert verdict.verdict == "different"
    assert verdict.diagnosis, verdict.divergence


def test_an_option_that_is_no_flag_is_refused(place):
    with pytest.raises(Refused, match=r"^vllm:it has compiled=fast; give true or false$"):
        program(place, compiled="fast")


@pytest.mark.long
def test_a_model_whose_modules_run_all_the_same_is_refused(place, compiled):
    again = program(place, compiled=True)
    again.model.model.do_not_compile = True
    with pytest.raises(Refused, match=r"^vllm:it: vLLM does not compile this model"):
        capture(again, again.example)
