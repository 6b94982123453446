"""Real models: what vLLM computes is what Transformers computes, for a prompt and one token from the cache."""

import pytest

from samesame import check
from samesame.evidence import Rung
from vllm_models import ARCHITECTURES, needs_vllm, pair

pytestmark = [pytest.mark.models, needs_vllm]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_vllm_is_proved_the_same_but_for_its_kernels(name, tmp_path):
    left, right = pair(tmp_path, name)
    verdict = check(left, right, None, timeout=120)
    assert verdict.verdict == "same", (verdict.notes, [root.evidence for root in verdict.roots])
    assert {root.name for root in verdict.roots} == {"prefill_logits", "decode_logits"}
    own = [relation for relation in verdict.relations if relation.evidence.method != "congruence"]
    weak = {relation.right for relation in own if relation.evidence.rung < Rung.PROVED_HERE}
    assert weak and all(relation.startswith(("paged_attention", "fused_experts")) for relation in weak)
    assert verdict.evidence is Rung.TESTED
