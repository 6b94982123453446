"""Verdicts made by hand, as `check` would make them, for tests of what renders them."""

from __future__ import annotations

from samesame.evidence import Divergence, Edit, Effect, Evidence, Numeric, Relation, Root, Rung, Site, Verdict
from samesame.graph import Origin

GIVEN = Evidence(Rung.PROVED_HERE, "input")
MASK = "-3.4e38 read as −∞"


def origin(line: int, module: str, code: str = "x = self.norm(x)") -> Origin:
    return Origin("examples/fused_llama.py", line, "forward", code, module)


def given(left: tuple[str, ...], right: str, layout: str) -> Relation:
    return Relation(left, right, layout, GIVEN, Origin(parameter=left[0]), Origin(parameter=right))


def parameters(layers: int) -> list[Relation]:
    found = [given(("model.embed_tokens.weight",), "embed.weight", "model.embed_tokens.weight")]
    for layer in range(layers):
        parts = tuple(f"model.layers.{layer}.self_attn.{name}_proj.weight" for name in "qkv")
        found.append(given(parts, f"layers.{layer}.qkv.weight", f"concat({', '.join(parts)}; 0)"))
        out = f"model.layers.{layer}.self_attn.o_proj.weight"
        found.append(given((out,), f"layers.{layer}.out.weight", out))
    return found


def same(layers: int = 4) -> Verdict:
    """A model of `layers` layers: two proofs in the first, rules in the others."""
    inner = []
    for layer in range(layers):
        method = "normal form" if layer == 0 else "rule"
        module = f"model.layers.{layer}.self_attn"
        sides = origin(41, module), origin(88, f"layers.{layer}")
        first = Evidence(Rung.PROVED_HERE, method, "p1", seconds=0.01)
        second = Evidence(Rung.PROVED_HERE, method, "p2", conditions=(MASK, "Σ_j exp(s[i, j]) ≠ 0"), seconds=0.2)
        parts = f"q_{layer}", f"k_{layer}"
        inner.append(Relation(parts, f"qkv_{layer}", f"concat({', '.join(parts)}; -1)", first, *sides))
        inner.append(Relation((f"mm_{layer}",), f"einsum_{layer}", f"reshape(mm_{layer}, [2, 9, 36])", second, *sides))
    return Verdict(
        "same",
        Rung.PROVED_HERE,
        roots=[Root("logits", "linear_14", "view_9", Evidence(Rung.PROVED_HERE, "normal form", "p9"))],
        relations=parameters(layers) + inner,
        numeric=[Numeric("logits", 2.13e-7, 1.84e-7, "float32", 3)],
        timing={"capture": 0.51, "execute": 0.3, "prove": 3.14, "total": 4.2},
        counts={"left nodes": 180, "right nodes": 96},
        versions={"samesame": "0.1.0", "torch": "2.13.0"},
        left="LlamaForCausalLM",
        right="examples/fused_llama.py:FusedLlama",
    )


def different() -> Verdict:
    """Another epsilon in the second layer's norm of the right side."""
    rsqrt = "rsqrt_2", "aten.rsqrt.default"
    left = Site("left", *rsqrt, origin(22, "model.layers.1.input_layernorm", "x * torch.rsqrt(v + 1e-06)"))
    right = Site("right", *rsqrt, origin(41, "layers.1", "wide * torch.rsqrt(mean + 1e-05)"))
    effect = Effect(3.21e-3, 1.1e-4, 2.1e-3, 2, 18)
    verdict = same()
    return Verdict(
        "different",
        Rung.REFUTED,
        roots=[
            Root("logits", "linear_14", "view_9", Evidence(Rung.REFUTED, "values"), 3.21e-3, 1.1e-4),
            Root("hidden", "add_3", "add_4", Evidence(Rung.PROVED_HERE, "rule", "p1")),
        ],
        relations=verdict.relations[:-4],
        divergence=Divergence(left, right, ("add_3", "model.layers.1.input_layernorm.weight")),
        diagnosis=[
            Edit("`eps=1e-05` becomes `1e-06`", right, "proved", left),
            Edit("`eps=1e-06` becomes `1e-05`", left, "values", right, effect),
        ],
        effect=effect,
        numeric=[Numeric("logits", 2.1e-7, 4.4e-4, "float32", 3)],
        timing=verdict.timing,
        versions=verdict.versions,
        left=verdict.left,
        right=verdict.right,
    )


def undecided() -> Verdict:
    """One operator that nothing could decide."""
    open_ = Evidence(Rung.UNDECIDED, "smt", detail="the solver gave up after 10 s")
    verdict = same(2)
    verdict.verdict, verdict.evidence = "undecided", Rung.UNDECIDED
    sides = origin(12, "router"), origin(30, "moe")
    verdict.relations.append(Relation(("sort_1",), "topk_1", "sort_1[0:4]", open_, *sides))
    verdict.roots = [Root("logits", "linear_14", "view_9", open_, 3e-15, 1e-16)]
    verdict.unpaired = ["left model.rotary_emb.inv_freq"]
    verdict.notes = ["stopped after 60 s (--timeout)"]
    return verdict
