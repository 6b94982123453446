"""Config fields: which field of a checkpoint's config, changed for one side, makes both sides agree again.

Most differences between two libraries come from a field that one of them ignores, and the checkpoints that people use
never set it. What it does may lie in a table of angles or inside a kernel, where no edit of one operator reaches. So
the model is built again with one field changed: to what the other side has, to the class's default, as a flag turned,
as a factor or cap taken away. Only fields are tried whose names belong to the operators that part. A candidate
must first close the gap in float32, and then make every output agree in float64 on every draw. A model that was
changed after it was built is not built again: that alone would undo the change.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from samesame.capture import capture
from samesame.capture.checkpoints.folders import Checkpoint, config_of, one_line
from samesame.capture.checkpoints.shrinking import merged
from samesame.capture.targets import load_target
from samesame.diagnose.tried import Limits, tried
from samesame.evidence import Edit, Refused, SamesameError, Site
from samesame.graph import Graph
from samesame.operators.defaults import with_defaults
from samesame.operators.execute import execute
from samesame.operators.kept import Part
from samesame.programs.outputs import taken_apart
from samesame.relate.draws import Draw
from samesame.relate.propose import Values, agree

SECONDS = 15.0                             # of this thread's time
LARGEST = 50_000_000                       # parameters of a model that is built anew for each try
WAYS = ("eager", "sdpa")                   # in which Transformers computes attention
_TOLD = 0.2                                # of the gap: two ways that differ by so much are no rounding
_EDITS = 2
_CLOSED = 0.02                             # what is left of the gap, in float32, where a candidate is looked at

# What an operator's place says (its name, function, module, line), and the fields that are its business.
TOUCHED: dict[str, str] = {
    r"rot|rope": r"rope|rotary|theta|original_max",
    r"attention|attn|softmax|mask|cache|scal": r"window|layer_types|cap|scal|attention_mult|query_pre|attn|sink|causal",
    r"norm|rsqrt": r"eps|norm",
    r"\bact|gelu|silu|relu|tanh": r"act",
    r"expert|gate|moe|router|topk": r"expert|top_?k|rout|norm_topk|scoring|group|moe|scal",
    r"logit|lm_head|head": r"logit|cap|head|scal|mult|tie",
    r"linear|addmm|proj": r"bias|scal|mult",
    r"embed": r"embed|scal|mult|position|tie",
    r"\badd\b|residual": r"residual|mult|scal",
}
# What a field is likely to be taken for where it is lost, beside its class's default.
LOST: dict[str, tuple[Any, ...]] = {
    r"theta$": (10000.0,),
    r"partial_rotary_factor$": (1.0,),
    r"mult|scal": (1.0,),
    r"cap": (None,),
    r"window": (None,),
    r"rope_type$": ("default",),
    r"act": ("gelu", "gelu_pytorch_tanh", "silu", "relu"),
}
SIZES = re.compile(r"size|num_|n_(layer|head|embd|inner|positions|ctx)|dim|token_id|dtype|^_|version|architectures")

Fields = Mapping[str, Any]
Tried = tuple[int, int, str, Any, Any]                     # cost, side, field, value, the value now


@dataclass(frozen=True)
class Configured:
    """Two programs that checkpoints made, with what `check` knows of them: inputs, graphs, draws and values."""

    programs: tuple[Any, Any]
    example: Any
    graphs: tuple[Graph, Graph]
    taken: Sequence[Draw]
    values: tuple[Values, Values]

    def edits(self, sites: tuple[Site | None, Site | None], deadline: float) -> list[Edit]:
        """The changes of one field that make every output agree, the plainest first."""
        outputs = self.outputs()
        if outputs is None:
            return []
        gap = _apart(*outputs)
        itself: dict[int, bool] = {}                       # by side: is the program what its checkpoint makes?

        def holds(one: Tried) -> Edit | None:
            _, side, name, value, now = one
            site = sites[side] or sites[1 - side]
            if not itself.get(side, True) or site is None:
                return None
            changed = with_field(self.programs[side].checkpoint, name, value)
            try:
                program = load_target(changed)
                if _apart(_run(program, self.example), outputs[1 - side]) > _CLOSED * gap:
                    return None
                if side not in itself:
                    again = load_target(self.programs[side].checkpoint)
                    itself[side] = _apart(_run(again, self.example), outputs[side]) <= _CLOSED * gap
                agrees = itself[side] and self._agrees(side, program)
            except SamesameError:
                return None
            return _edit(changed, side, name, value, now, site, sites[1 - side]) if agrees else None

        limits = Limits(_EDITS, time.thread_time() + SECONDS, deadline)
        found = tried(candidates(self.programs, sites), limits, holds, lambda one: one[0])
        return [edit for _, edit in found]

    def paths(self) -> list[str]:
        """A sentence for each side of which Transformers' own ways to compute attention disagree, in float32 on the
        example: then it is open which of them the other side should be held to."""
        outputs = self.outputs()
        if outputs is None:
            return []
        gap, notes = _apart(*outputs), list[str]()
        for side, program in enumerate(self.programs):
            checkpoint = program.checkpoint
            if checkpoint.library != "hf":
                continue
            itself, told = False, list[str]()                       # is one of the ways what the model does?
            for way in WAYS:
                said = f"{checkpoint.text}{'&' if '?' in checkpoint.text else '?'}attn={way}"
                changed = replace(checkpoint, options={**checkpoint.options, "attn": way}, text=said)
                try:
                    theirs = _run(load_target(changed), self.example)
                except SamesameError:                      # this model has no such way
                    continue
                if _apart(theirs, outputs[side]) <= _TOLD * gap:
                    itself = True
                else:
                    agrees = _apart(theirs, outputs[1 - side]) <= _CLOSED * gap
                    other = "agrees with" if agrees else "differs from"
                    told.append(
                        f"Transformers' own ways to compute attention disagree here: with attn={way} the model of "
                        f"{checkpoint.text} differs from itself, and {other} the {('right', 'left')[side]}."
                    )
            notes += told if itself else []
        return notes

    def outputs(self) -> tuple[list[torch.Tensor], list[torch.Tensor]] | None:
        """What both models make of the example; None where they are too large to be built again and again, or do not
        run outside a recorder."""
        if any(sum(p.numel() for p in program.parameters()) > LARGEST for program in self.programs):
            return None
        try:
            return _run(self.programs[0], self.example), _run(self.programs[1], self.example)
        except SamesameError:
            return None

    def _agrees(self, side: int, program: Any) -> bool:
        """Do all outputs agree in float64 on every draw, one side being this program?"""
        graph = with_defaults(capture(program, self.example, name=("left", "right")[side]))
        other = self.graphs[1 - side]
        if [name for name, _ in graph.roots] != [name for name, _ in other.roots]:
            return False
        for draw, values in zip(self.taken, self.values[1 - side], strict=True):
            given = (draw.left, draw.right)[side]
            sources = [*graph.sources("input"), *graph.sources("parameter")]
            known = Part(given, [node.name for node in sources if node.name in given])
            run = execute(graph, known, keep=False)
            for (_, root), (_, wanted) in zip(graph.roots, other.roots, strict=True):
                if not agree(run[root.name], values[wanted.name], 1e-8):       # type: ignore[arg-type]
                    return False
        return True


def _run(program: Any, example: Any) -> list[torch.Tensor]:
    """The outputs of a model in its own precision. Raises Refused where it does not run: a library may take a config
    and then fail in any way."""
    try:
        with torch.inference_mode():
            outputs = program(**example)
    except Exception as error:
        raise Refused(f"{program.checkpoint.text} does not run: {one_line(error)}") from error
    return [tensor for _, tensor in taken_apart(outputs, program.checkpoint.text)[1]]


def _apart(mine: list[torch.Tensor], yours: list[torch.Tensor]) -> float:
    """The largest difference of two models' outputs; infinite where they are of other shapes."""
    if [x.shape for x in mine] != [y.shape for y in yours]:
        return float("inf")
    return max(float((x.double() - y.double()).abs().max()) for x, y in zip(mine, yours, strict=True))


def with_field(checkpoint: Checkpoint, name: str, value: Any) -> Checkpoint:
    """The checkpoint with one more field of its config replaced, as it is named on a command line."""
    nested: Any = value
    for key in reversed(name.split(".")):
        nested = {key: nested}
    said = f"{checkpoint.text}{'&' if '?' in checkpoint.text else '?'}{name}={_spoken(value)}"
    return replace(checkpoint, overrides=merged(checkpoint.overrides, nested), text=said)


def _spoken(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value).replace(" ", "")


def _edit(
    changed: Checkpoint, side: int, name: str, value: Any, now: Any, site: Site, other: Site | None
) -> Edit:
    which = ("left", "right")[side]
    said = f"{which} is {changed.text}, {name} being {_spoken(now)} now"
    return Edit(said, replace(site, side=which) if site.side != which else site, "values", other)


# ----------------------------------------------------------------------------------------------------- what to try


def candidates(programs: tuple[Any, Any], sites: tuple[Site | None, Site | None]) -> list[Tried]:
    """Every change of a field that concerns these operators, plain ones first; of the left and the right in turn."""
    found: list[Tried] = []
    fields = [flat(config_of(p.checkpoint.path, p.checkpoint.overrides).to_dict()) for p in programs]
    kind = type(config_of(programs[0].checkpoint.path, {}))
    default = flat(_default(kind))
    concerns = relevant(sites)
    for side in (0, 1):
        mine, yours = fields[side], fields[1 - side]
        for name, now in mine.items():
            if SIZES.search(name) or not concerns(name):
                continue
            seen = [now]
            for cost, value in _others(name, now, yours.get(name, now), default.get(name, now), mine):
                if value not in seen:
                    seen.append(value)
                    found.append((cost, side, name, value, now))
    return sorted(found, key=lambda row: row[:2])


def _default(kind: Any) -> Fields:
    try:
        fields: Fields = kind().to_dict()
    except Exception:                                      # a config class that cannot do without arguments
        return {}
    return fields


def _others(name: str, now: Any, yours: Any, default: Any, fields: Fields) -> Iterator[tuple[int, Any]]:
    """What else a field may be: cost, value."""
    yield 0, yours
    yield 1, default
    for pattern, values in LOST.items():
        if re.search(pattern, name) and now is not None:
            yield from ((1, value) for value in values)
    if isinstance(now, bool):
        yield 1, not now
    yield from ((1, value) for value in _siblings(name, fields))
    if isinstance(now, int) and not isinstance(now, bool) and "window" in name:
        yield from ((2, value) for value in (now - 1, now + 1) if value > 0)
    if isinstance(now, list) and name.endswith("types"):
        yield from ((2, [kind] * len(now)) for kind in dict.fromkeys(now))
        yield 2, now[::-1]


def _siblings(name: str, fields: Fields) -> Iterator[Any]:
    """What the same field is for other kinds of layers: `rope_parameters.full_attention.rope_theta`."""
    parts = name.split(".")
    if len(parts) < 3:
        return
    for other, value in fields.items():
        there = other.split(".")
        if len(there) == len(parts) and there[-1] == parts[-1] and there[:-2] == parts[:-2] and other != name:
            yield value


def relevant(sites: tuple[Site | None, Site | None]) -> Callable[[str], bool]:
    """Which fields are the business of the operators that part; every field, where nothing tells."""
    said = " ".join(_place(site) for site in sites if site is not None).lower()
    patterns = [fields for words, fields in TOUCHED.items() if re.search(words, said)]
    if not patterns:
        return lambda name: True
    either = re.compile("|".join(patterns))
    return lambda name: bool(either.search(name))


def _place(site: Site) -> str:
    modules = " ".join(site.origin.module.split(".")[-2:])
    return f"{site.operator} {site.origin.function} {modules} {site.origin.code}"


def flat(fields: Fields, before: str = "") -> dict[str, Any]:
    """Fields by dotted name, those of nested configs too."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            found.update(flat(value, f"{before}{name}."))
        else:
            found[f"{before}{name}"] = value
    return found


def configured(
    programs: tuple[Any, Any], example: Any, graphs: tuple[Graph, Graph], taken: Sequence[Draw],
    values: tuple[Values, Values],
) -> Configured | None:
    """What can be tried with these programs, where both are of checkpoints of one model that are still there, on inputs
    by name."""
    checkpoints = [getattr(program, "checkpoint", None) for program in programs]
    if not all(isinstance(c, Checkpoint) and c.path.exists() for c in checkpoints) or not isinstance(example, Mapping):
        return None
    kinds = {c.config["model_type"] for c in checkpoints if c is not None}
    return Configured(programs, example, graphs, taken, values) if len(kinds) == 1 else None


