"""Facts: what a drop-in has to know, as plain data that can be written into a file.

How a call and its result are put together, the kinds of the tensors in it, for which sizes it is proved, and on what it
was measured. A proof for all sizes gives dimensions as multiples of symbols with bounds; any other gives numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from samesame.capture.program import Program
from samesame.evidence import Refused, Rung, Verdict
from samesame.formula.sizes import symbols, value_at
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import BOTH, FROZEN, covered_by, filled, parts_of, results_of, skeleton, tied_in
from samesame.optimize.job import loaded, name_of
from samesame.programs.outputs import kind_of_value

PLAIN = (type(None), bool, int, float, str, torch.dtype)


def facts_of(
    module: Any, example: Any, candidate: Candidate, way: str, verdict: Verdict | None = None
) -> dict[str, Any]:
    """The facts of a candidate in a module's place. Raises Refused for arguments or results that cannot be written."""
    program = Program(module, example)
    program.arguments.apply_defaults()
    arguments = skeleton(tuple(program.arguments.arguments.values()), [])
    with torch.no_grad():
        results = skeleton(program.call(), [])
    for part, what in ((arguments, "takes"), (results, "returns")):
        plain(part, f"{name_of(module)} {what}")
    inputs = covered_by(dict(program.given))
    facts = {
        "way": way, "arguments": arguments, "results": results, "inputs": inputs,
        "weights": covered_by({name: program.tensors[name] for name in candidate.weights}), "bounds": {},
        "proved": "what was measured", "training": bool(getattr(module, "training", False)),
        "modes": [part.training for part in module.modules()] if isinstance(module, nn.Module) else [],
        "parts": parts_of(module), "tied": tied_in(module),
        "torch": torch.__version__, "instructions": torch.backends.cpu.get_cpu_capability(),
    }
    if verdict is not None:
        facts["proved"] = "what was proved, the sizes of the example"
        sizes = verdict.sizes
        here = way in (FROZEN, BOTH) or candidate.native   # compiled for these sizes and no others
        if verdict.evidence is Rung.PROVED and not sizes.region.conditions and not here:
            facts["proved"] = f"what was proved, {sizes.spoken()}"
            facts["bounds"] = dict(sizes.region.bounds)
            for (name, d), size in sizes.places.items():
                inputs[name].setdefault("sizes", list(inputs[name]["shape"]))[d] = in_symbol(size)
    return facts


def on_cuda(facts: dict[str, Any]) -> dict[str, Any]:
    """The same for a program that runs on a CUDA device: its tensors are there, and the processor says nothing."""
    moved = {role: {name: {**kind, "device": "cuda"} for name, kind in facts[role].items()}
             for role in ("inputs", "weights")}
    return {**{what: fact for what, fact in facts.items() if what != "instructions"}, **moved,
            "triton": version("triton")}


def in_symbol(size: Any) -> tuple[str, int]:
    """A dimension as a symbol, and of what it is a multiple."""
    (symbol,) = symbols(size)
    return symbol.name, value_at(size, {symbol.name: 1})


def plain(part: Any, whose: str) -> None:
    """Raises Refused where a skeleton holds what cannot be written down."""
    if type(part) in (tuple, list, dict):
        for inner in part.values() if isinstance(part, dict) else part:
            plain(inner, whose)
    elif part is not ... and type(part) not in PLAIN:
        raise Refused(f"{whose} {kind_of_value(part)}; optimize a module over tensors, numbers, and tuples, lists or "
                      "dicts of these, such as a block of the model")


def unguarded(
    module: Any, file: Path, weights: Mapping[str, torch.Tensor], facts: Mapping[str, Any]
) -> nn.Module:
    """The found program alone, with the signature of the original: what is to be proved."""
    signature = inspect.signature(module.forward if isinstance(module, nn.Module) else module)
    fast = loaded(file).made(module, {name: weights[name] for name in facts["weights"]})
    return Unguarded(fast, signature, facts["results"])


class Unguarded(nn.Module):
    """A found program, called as the original is."""

    def __init__(self, fast: Any, signature: inspect.Signature, results: Any) -> None:
        super().__init__()
        self.fast = fast

        def forward(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            tensors: list[torch.Tensor] = []
            skeleton(tuple(bound.arguments.values()), tensors)
            found = results_of(fast(*tensors))
            return found[0] if results is ... else filled(results, iter(found))

        forward.__signature__ = signature  # type: ignore[attr-defined]
        self.forward = forward
