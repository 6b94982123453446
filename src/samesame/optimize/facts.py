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

from samesame.capture.program import Program, failed
from samesame.evidence import Refused, Rung, Verdict
from samesame.formula.sizes import symbols, value_at
from samesame.optimize.built import home_of, parts_of, tied_in
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import (
    BOTH,
    FROZEN,
    Record,
    all_held,
    covered_by,
    filled,
    of_classes,
    results_of,
    skeleton,
    without_gaps,
)
from samesame.optimize.job import loaded, name_of
from samesame.programs.outputs import kind_of_value

PLAIN = (type(None), bool, int, float, str, torch.dtype)


def facts_of(
    module: Any, example: Any, candidate: Candidate, way: str, verdict: Verdict | None = None,
    gradients: bool = False,
) -> dict[str, Any]:
    """The facts of a candidate in a module's place. Raises Refused for arguments or results that cannot be written."""
    program = Program(module, example, gradients)
    program.arguments.apply_defaults()
    arguments = skeleton(tuple(program.arguments.arguments.values()), [])
    plain(arguments, f"{name_of(module)} takes", records=False)
    results, gaps = shape_of_results(module, program)
    inputs = covered_by(dict(program.given))
    facts = {
        "way": way, "arguments": arguments, "results": results, "gaps": gaps, "inputs": inputs,
        "weights": covered_by({name: program.tensors[name] for name in candidate.weights}), "bounds": {},
        "proved": "what was measured", "training": bool(getattr(module, "training", False)),
        "modes": [part.training for part in module.modules()] if isinstance(module, nn.Module) else [],
        "parts": parts_of(module, candidate.weights), "tied": tied_in(module),
        "default dtype": str(torch.get_default_dtype()),
        "gradients": wanted(module, program) if gradients else None,
        "torch": torch.__version__, "instructions": torch.backends.cpu.get_cpu_capability(),
    }
    if verdict is not None:
        facts["proved"] = "what was proved, the sizes of the example"
        sizes = verdict.sizes
        here = way in (FROZEN, BOTH) or candidate.native or bool(gaps)     # these sizes and no others
        if verdict.evidence is Rung.PROVED and not sizes.region.conditions and not here:
            facts["proved"] = f"what was proved, {sizes.spoken()}"
            facts["bounds"] = dict(sizes.region.bounds)
            for (name, d), size in sizes.places.items():
                inputs[name].setdefault("sizes", list(inputs[name]["shape"]))[d] = in_symbol(size)
    return facts


def shape_of_results(module: Any, program: Program) -> tuple[Any, list[tuple[int, ...] | None]]:
    """How what a program returns is put together; and, if some tensor of it has gaps between its elements, for each in
    order its strides, or None where it has none. Raises Refused where it cannot be written down, or put together
    again."""
    tensors = list[torch.Tensor]()
    try:
        with torch.set_grad_enabled(program.gradients):
            returned = program.call()
    except Exception as error:                       # it was captured, and may be one that fails now and then
        raise failed(error, name_of(module)) from error
    results = skeleton(returned, tensors, home_of(module))
    plain(results, whose := f"{name_of(module)} returns")
    try:
        again, same = filled(of_classes(results, module), iter(tensors)), list[torch.Tensor]()
        fits = repr(skeleton(again, same, home_of(module))) == repr(results) and list(map(id, same)) == list(
            map(id, tensors))
    except Exception as error:
        raise Refused(f"{whose} {kind_of_value(returned)}, which cannot be put together from its parts: {error}; "
                      "return a tuple, a list or a dict") from error
    if not fits:
        raise Refused(f"{whose} {kind_of_value(returned)}, which is another one when it is put together from its "
                      "parts; return a tuple, a list or a dict")
    gaps = [tensor.stride() if without_gaps(tensor).stride() != tensor.stride() else None for tensor in tensors]
    return results, gaps if any(gaps) else []


def wanted(module: Any, program: Program) -> list[bool]:
    """Which inputs, parameters and buffers have gradients, in order. Raises Refused for a function with a tensor of its
    own that has some, and where they are made of one another."""
    if not isinstance(module, nn.Module) and any(tensor.requires_grad for tensor in program.held):
        raise Refused(f"{name_of(module)} computes gradients, and holds a tensor that has some: make it a module with "
                      "that as a parameter")
    tensors = [*(tensor for _, tensor in program.given), *all_held(module)]
    several = [tensor for tensor in tensors if tensor.requires_grad]
    if len(set(map(id, several))) < len(several) or not all(tensor.is_leaf for tensor in several):
        raise Refused(f"{name_of(module)} computes gradients, and tensors that have some are made of one another: "
                      "give inputs of their own")
    return [tensor.requires_grad for tensor in tensors]


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


def plain(part: Any, whose: str, records: bool = True) -> None:
    """Raises Refused where a skeleton holds what cannot be written down, or records where there are to be none."""
    if isinstance(part, Record) and records:
        plain(part.parts, whose)
    elif type(part) in (tuple, list, dict):
        for inner in part.values() if isinstance(part, dict) else part:
            plain(inner, whose, records)
    elif part is not ... and type(part) not in PLAIN:
        kind = part.kind.rpartition(":")[2] if isinstance(part, Record) else kind_of_value(part)
        raise Refused(f"{whose} {kind}; optimize a module over tensors, numbers, and tuples, lists or "
                      "dicts of these, such as a block of the model")


def unguarded(
    module: Any, file: Path, weights: Mapping[str, torch.Tensor], facts: Mapping[str, Any]
) -> nn.Module:
    """The found program alone, with the signature of the original: what is to be proved."""
    signature = inspect.signature(module.forward if isinstance(module, nn.Module) else module)
    fast = loaded(file).made(module, {name: weights[name] for name in facts["weights"]})
    return Unguarded(module, fast, signature, facts["results"])


class Unguarded(nn.Module):
    """A found program, called as the original is."""

    def __init__(self, module: Any, fast: Any, signature: inspect.Signature, results: Any) -> None:
        super().__init__()
        self.fast = fast

        shape = of_classes(results, module)

        def forward(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            tensors: list[torch.Tensor] = []
            skeleton(tuple(bound.arguments.values()), tensors)
            found = results_of(fast(*tensors))
            return found[0] if results is ... else filled(shape, iter(found))

        forward.__signature__ = signature  # type: ignore[attr-defined]
        self.forward = forward
