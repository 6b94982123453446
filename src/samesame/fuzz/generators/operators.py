"""Operators: torch's own samples of some six hundred operators, composed into graphs.

Torch's test suite knows valid arguments for every operator. A graph takes one operator after the other, with one of
its samples, and puts values that it has already in the place of the sample's tensors: where dtype and shape fit as they
are, or after a view that makes them fit. What does not fit becomes an input, with the sample's own numbers.
"""

from __future__ import annotations

import random
import warnings
from functools import cache
from itertools import islice
from typing import Any

import torch

from samesame.fuzz.generators.taste import PLAIN, Taste
from samesame.fuzz.generators.values import DTYPES, any_mood, any_shape, any_tensor
from samesame.fuzz.program import Input, Program, Ref, Step, evaluated, literal, run_step, used

SAMPLES = 24  # of an operator at one dtype
LONGEST_LITERAL = 48  # elements; a larger tensor of a sample is drawn anew
TRIES = 12
OUTPUTS = 24
AS_TEXT = (type(None), bool, int, float, str, torch.dtype)


# Random, uninitialised, sparse or about devices: nothing to compare.
LEFT_OUT = frozenset("""
    bernoulli cauchy dropout empty empty_like empty_permuted empty_strided exponential geometric item jiterator_unary
    log_normal lstsq lu multinomial new_empty new_empty_strided normal polar rand rand_like randint randint_like randn
    randn_like resize_ resize_as_ rrelu sparse to_sparse uniform tolist alpha_dropout feature_alpha_dropout
    fractional_max_pool2d fractional_max_pool3d svd_lowrank pca_lowrank to
""".split())  # noqa: SIM905
# Results are one of many right ones: the sign or basis of eigenvectors, the order of ties.
MANY_RIGHT = ("eig", "eigh", "svd", "qr", "geqrf", "ormqr", "householder", "lobpcg", "pinv")


@cache
def operators() -> dict[str, Any]:
    """Torch's operators with samples, by the path under which anybody can call them."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, Any] = {}
    for entry in op_db:
        path = _path(entry)
        last = entry.name.rpartition(".")[2]
        if path is not None and last not in LEFT_OUT and not any(word in last for word in MANY_RIGHT):
            found.setdefault(path, entry)
    return found


def _path(entry: Any) -> str | None:
    """`torch.nn.functional.gelu`, or `.expand` for a method; None where the operator has no name of its own."""
    for path in (f"torch.{entry.name}", f"torch.{entry.name.replace('.', '_')}"):
        thing: Any = torch
        for part in path.split(".")[1:]:
            thing = getattr(thing, part, None)
        if thing is not None and thing is entry.op:
            return path
    method = getattr(torch.Tensor, entry.name, None)
    if callable(method) and not entry.variant_test_name:
        return f".{entry.name}"
    return None


@cache
def samples(path: str, dtype: str) -> tuple[Any, ...]:
    """Valid arguments for an operator, its first tensor of this dtype."""
    entry, kind = operators()[path], getattr(torch, dtype)
    if kind not in entry.dtypes:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = entry.sample_inputs_func(entry, "cpu", kind, False)    # sample_inputs searches the stack for a test
        return tuple(islice(made, SAMPLES))


class Composer:
    """A program under construction: its inputs and steps, and the value of each name, as eager torch computes it."""

    def __init__(self, dice: random.Random, taste: Taste = PLAIN, mood: str = "mixed") -> None:
        self.dice, self.taste, self.mood = dice, taste, mood
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.values: dict[str, torch.Tensor] = {}

    def program(self) -> Program:
        """The program so far; it returns what nothing reads, and one or two results that something does: what goes
        wrong on the way is seen, and most of the way may still be fused."""
        taken = set(used(self.steps))
        made = [name for step in self.steps for name in step.results if name in self.values]
        unread = [name for name in made if name not in taken][-OUTPUTS:]
        seen = self.dice.sample(made, min(len(made), 2))
        return Program(tuple(self.inputs), tuple(self.steps), tuple(dict.fromkeys((*unread, *seen)))).lean()

    def fresh(self, prefix: str) -> str:
        count = sum(1 for name in (*self.values, *(r for s in self.steps for r in s.results)) if name[0] == prefix)
        return f"{prefix}{count}"

    def take(self, text: str) -> Ref:
        """A new input."""
        name = self.fresh("x")
        self.inputs.append(Input(name, text))
        self.values[name] = evaluated(text)
        return Ref(name)

    def apply(self, call: str, *args: Any, **kwargs: Any) -> bool:
        """Run one more step in eager mode; keep it if it gives tensors."""
        if call in self.taste.avoid:
            return False
        name = self.fresh("y")
        step = Step((name,), call, args, kwargs)
        try:
            result = run_step(step, self.values)
        except Exception:  # an operator refuses: no step
            return False
        several = isinstance(result, tuple | list)
        tensors = list(result) if several else [result]
        if not tensors or not all(isinstance(t, torch.Tensor) and plain(t) for t in tensors):
            return False
        if sum(t.numel() for t in tensors) > 1 << 16:
            return False
        names = tuple(f"{name}{'abcdefghijklmnopqrstuvwxyz'[k % 26]}{k // 26 or ''}" for k in range(len(tensors)))
        results = names if several else (name,)
        self.steps.append(Step(results, call, args, kwargs, several))
        self.values.update(zip(results, tensors, strict=True))
        return True

    def fitting(self, like: torch.Tensor) -> Ref | None:
        """A value of this dtype and shape, perhaps after views that make it fit."""
        names = [name for name, value in self.values.items() if value.dtype == like.dtype]
        self.dice.shuffle(names)
        for name in sorted(names, key=lambda n: self.values[n].shape != like.shape):
            value = self.values[name]
            if value.shape == like.shape:
                return Ref(name)
            if value.numel() == like.numel() and self.apply("torch.reshape", Ref(name), tuple(like.shape)):
                return self.newest
            if value.numel() > like.numel() > 0 and self.apply("torch.flatten", Ref(name)):
                cut = self.apply("[]", self.newest, slice(None, like.numel()))
                if cut and self.apply("torch.reshape", self.newest, tuple(like.shape)):
                    return self.newest
        return None

    @property
    def newest(self) -> Ref:
        """The (first) result of the last step."""
        return Ref(self.steps[-1].results[0])


def plain(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized


def generate(dice: random.Random, taste: Taste = PLAIN) -> Program:
    """A graph of 3 to 30 operators."""
    made = Composer(dice, taste, any_mood(dice))
    dtype = taste.pick(dice, DTYPES)
    shape = any_shape(dice)
    for _ in range(dice.choice((1, 2, 2, 3))):
        made.take(any_tensor(dice, shape, dtype, made.mood))
    wanted = dice.choice((3, 6, 8, 10, 14, 20, 30))
    paths = [path for path in operators() if path not in taste.avoid]
    for _ in range(TRIES * wanted):
        if len(made.steps) >= wanted:
            break
        value = dice.choice(list(made.values.values()))
        append(made, taste.pick(dice, paths), str(value.dtype).removeprefix("torch."))
    return made.program()


def append(made: Composer, path: str, dtype: str) -> bool:
    """One more operator, on one of its samples at this dtype."""
    found = samples(path, dtype)
    if not found:
        return False
    sample = made.dice.choice(found)
    before = len(made.inputs), len(made.steps), dict(made.values)
    try:
        args = tuple(_placed(made, part) for part in (sample.input, *sample.args))
        kwargs = {name: _placed(made, part) for name, part in sample.kwargs.items()}
    except _NotPlain:
        args, kwargs = (), {}
    if args and made.apply(path, *args, **kwargs):
        return True
    del made.inputs[before[0] :], made.steps[before[1] :]
    made.values = before[2]
    return False


class _NotPlain(Exception):
    """An argument that cannot be written as text."""


def _placed(made: Composer, argument: Any) -> Any:
    """An argument of a sample, with the program's own values for its tensors."""
    if isinstance(argument, torch.Tensor):
        if not plain(argument):
            raise _NotPlain
        whole = not (argument.is_floating_point() or argument.is_complex())
        fit = None if whole else made.fitting(argument)  # an integer may index, and must stay in range
        if fit is not None:
            return fit
        if whole or argument.is_complex() or (argument.numel() <= LONGEST_LITERAL and made.mood != "extreme"):
            return made.take(literal(argument) if argument.numel() else _empty(argument))
        return made.take(any_tensor(made.dice, argument.shape, str(argument.dtype).removeprefix("torch."), made.mood))
    if isinstance(argument, list | tuple) and type(argument) in (list, tuple, torch.Size):
        parts = [_placed(made, part) for part in argument]
        return parts if isinstance(argument, list) else tuple(parts)
    if isinstance(argument, AS_TEXT):
        return argument
    raise _NotPlain


def _empty(tensor: torch.Tensor) -> str:
    return f"torch.zeros({tuple(tensor.shape)}, dtype={tensor.dtype})"
