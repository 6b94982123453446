"""Forms as a torch module: source text, one operator a line, each with its formula beside it.

The module takes the inputs of the original and shares its weights, under the same names. A variable has one dimension
for each axis of its form; dimensions of several axes are taken apart where tensors are read, and put together where
results are returned. A product of several factors is multiplied two at a time, in the order of `pairs.py`. What is the
same up to the names of axes is computed once. The text is not trusted: `check` compares the module with the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from samesame.evidence import Refused
from samesame.formula.equal import deep_recursion
from samesame.graph import Dtype
from samesame.optimize import forms as f
from samesame.optimize.emit.fused import Attention, Softmax, attention, with_softmax
from samesame.optimize.emit.module import module_text
from samesame.optimize.emit.variables import (
    Variable,
    added,
    aligned,
    constant,
    digits,
    literal,
    looked_up,
    needs_two_steps,
    over,
    permuted,
    promoted,
    quotient,
    stride,
    unit,
)
from samesame.optimize.emit.wholes import READ_IN_PLACE, spans, wholes
from samesame.optimize.forms import Form, Infinity, Part, Place, finite, size_of, text
from samesame.optimize.names import Digests
from samesame.optimize.pairs import priced, steps
from samesame.optimize.rules import parts_of
from samesame.optimize.specification import KEPT, Dims, Output, Specification

FUNCTIONS = {name: f"F.{name}({{}})" for name in ("silu", "relu", "gelu", "elu", "softplus")} | {
    "gelu_tanh": 'F.gelu({}, approximate="tanh")', "abs": "{}.abs()", "sign": "{}.sign()",
}
PATTERNS: dict[str, Callable[..., str]] = {          # of an operator's attributes
    "minus": lambda: "{} - {}", "not": lambda: "~ {}", "and": lambda: "{} & {}", "or": lambda: "{} | {}",
    "compare": lambda op: f"{{}} {dict(zip('<≤=', ('<', '<=', '=='), strict=True))[op]} {{}}",
    "cast": lambda dtype: f"{{}}.to(torch.{dtype})",
    "fn": lambda name: FUNCTIONS.get(name, f"torch.{name}({{}})"),
}
BOOLEAN = {"not", "and", "or", "compare"}
HALF = Fraction(1, 2)
PRICES = 1.0, 0.03, 20_000.0                         # of an element moved, a multiplication, an operator

def source(specification: Specification, outputs: Sequence[Form]) -> str:
    """The text of a file with a class `Fast`, whose forward computes these forms, one for each of the specification's
    roots. Raises Refused where a torch module cannot take what the program takes."""
    with deep_recursion():
        return Printer(specification, tuple(outputs)).file()


class Printer:
    """Lines of a forward, and the variables that hold forms already. What else a file needs stands `above` its class,
    or is made `ahead` of calls."""

    above = ""

    def __init__(self, specification: Specification, outputs: tuple[Form, ...]) -> None:
        self.specification = specification
        self.roots = dict(zip(specification.roots(), outputs, strict=True))
        self.lines, self.ahead = list[str](), list[str]()
        self.made: dict[Any, tuple[Variable, tuple[str, ...]]] = {}
        self.shown: dict[str | Form, str] = {}
        self.keys: dict[Form, tuple[int, tuple[str, ...]]] = {}
        self.digests = Digests(self.extent)
        self.codes: dict[Any, int] = {}
        self.read: dict[str, str] = {}               # tensor → the expression that it is
        self.sums: list[frozenset[int]] = []
        self.quotients: dict[str, tuple[str, str]] = {}        # numbers that are divided in two steps
        self.given = set[str]()                                # variables that are returned
        self.own = set[str]()                                  # variables in memory of their own
        self.numbered = 0
        self.wholes, self.extents = wholes(outputs, specification.extents)

    # ----------------------------------------------------------------------------------------------------- the file

    def file(self) -> str:
        names = self.specification.arguments
        taken = [self.argument(name) for name in names]
        for call in self.specification.calls:
            self.call(call)
        returned = [self.laid(self.output(output), output) for output in self.specification.outputs]
        self.lines.append(f"return {self.returned(returned)}")
        return module_text(self.specification.name, taken, self.lines, self.ahead, self.above,
                           self.specification.variables)

    def argument(self, name: str) -> str:
        """A parameter for an input; of one that stands inside another, such as `pair.0`, too: they come one by one."""
        taken = re.sub(r"\W", "_", name)
        while taken in self.read.values():
            taken += "_"
        self.read[name] = taken
        return taken

    def returned(self, results: list[str]) -> str:
        names = [output.name for output in self.specification.outputs]
        if not all(name.isdigit() for name in names):
            return "{" + ", ".join(f"{name!r}: {x}" for name, x in zip(names, results, strict=True)) + "}"
        return results[0] if len(results) == 1 else f"({', '.join(results)})"

    def call(self, call: Any) -> None:
        """A boundary: torch's operator, on what forms computed."""
        def argument(value: Any) -> str:
            if isinstance(value, Output):
                return self.output(value)
            if isinstance(value, tuple):
                return "(" + "".join(f"{argument(part)}, " for part in value) + ")"
            return f"torch.{value.name}" if isinstance(value, Dtype) else literal(value)

        if call.operator == KEPT:
            applied = self.output(call.arguments[0], apart=True)
        else:
            given = [argument(value) for value in call.arguments]
            given += [f"{name}={argument(value)}" for name, value in call.keywords]
            applied = f"torch.ops.{call.operator}({', '.join(given)})    # as it was"
        names = [self.new() for _ in call.results]
        targets = f"{names[0]}," if call.several and len(names) == 1 else ", ".join(names)
        self.lines.append(f"{targets} = {applied}")
        self.read.update(zip(call.results, names, strict=True))
        self.shown.update(zip(call.results, names, strict=True))

    def new(self) -> str:
        self.numbered += 1
        return f"t{self.numbered}"

    def let(self, expression: str, axes: tuple[str, ...], dtype: str, form: Form | None) -> Variable:
        """A line that gives the expression a name."""
        name = self.new()
        here = f"{name}[{', '.join(axes)}]" if axes else name
        meaning = f"    # {here} = {text(form, names=self.shown)}" if form is not None else f"    # {here}"
        line = f"{name} = {expression}"
        self.lines.append(line + meaning if len(line + meaning) < 180 else line + f"    # {here}")
        return Variable(name, axes, dtype)

    # -------------------------------------------------------------------------------------------------------- sharing

    def key(self, form: Form) -> tuple[int, tuple[str, ...]]:
        """What the form is up to the names of its axes, as a number, and its axes in an order that all such have."""
        if form not in self.keys:
            whole, names = self.digests.renamed(form)
            self.keys[form] = self.codes.setdefault(whole, len(self.codes)), names
        return self.keys[form]

    def variable(self, form: Form) -> Variable:
        """The variable that holds the form; a line makes it, if there is none."""
        made = self.cut_out(form) or self.once(form, "", lambda: self.make(form))
        if made.text.isidentifier() and made.axes == form.axes:
            self.shown[form] = made.text
        return made

    def cut_out(self, form: Form) -> Variable | None:
        """A portion of a tensor that is computed as a whole."""
        if not self.wholes or not form.axes or form.operator in READ_IN_PLACE:
            return None
        key, here = self.digests.portion(form)
        whole = self.wholes.get(key)
        if whole is None or form == whole.form or spans(here, self.extent) == whole.spans:
            return None
        return whole.cut(self.variable(whole.form), here, self.extent)

    def once(self, form: Form, way: str, make: Callable[[], Variable]) -> Variable:
        """What `make` gives for the form, or gave for one that is the same but for the names of axes."""
        key, axes = self.key(form)
        if (key, way) not in self.made:
            self.made[key, way] = make(), axes
        found, named = self.made[key, way]
        other = dict(zip(named, axes, strict=True))
        return Variable(found.text, tuple(other[axis] for axis in found.axes), found.dtype)

    # ----------------------------------------------------------------------------------------------------------- forms

    def make(self, form: Form) -> Variable:
        operator, attributes, below = parts_of(form)
        if operator == "contract":
            return self.contract(form, list(below), attributes[0])
        if operator in PATTERNS:
            dtype = "bool" if operator in BOOLEAN else attributes[0] if operator == "cast" else None
            return self.apply(form, PATTERNS[operator](*attributes), below, dtype, plain=operator == "minus")
        made: Variable = getattr(self, f"_{operator}")(form)
        return made

    def extent(self, axis: str) -> int:
        return size_of([axis], self.extents)

    def size(self, axis: str) -> str:
        """The extent as code: of a dimension that is this axis alone, so that it holds at other sizes too."""
        for name in self.specification.arguments:
            for places in self.loads.get(name, ()):
                for d, place in enumerate(places):
                    if place.axis == axis and self.specification.tensors[name].shape[d] == self.extent(axis):
                        return f"{self.read[name]}.shape[{d}]"
        return str(self.extent(axis))

    @cached_property
    def loads(self) -> Mapping[str, list[tuple[Place, ...]]]:
        """How each tensor is read in the specification."""
        found: dict[str, list[tuple[Place, ...]]] = {}
        for part in f.walk(*(root.form for root in self.roots)):
            if part.operator == "load":
                found.setdefault(part.attributes[0], []).append(part.attributes[1:])
        return found

    def _load(self, form: Form) -> Variable:
        name, *places = form.attributes
        tensor = self.specification.tensors[name]
        if name not in self.read:
            self.read[name] = self.weight(name)
        axes = [axis for place in places for axis in place.axes]
        if len(set(axes)) < len(axes):
            return self.gathered(form)
        return self.viewed(self.read[name], places, tensor.shape, tensor.dtype, form)

    def viewed(self, name: str, places: Sequence[Place], shape: Sequence[int], dtype: str, form: Form) -> Variable:
        """A tensor read at places: parts of dimensions cut out, dimensions of several axes taken apart."""
        cuts, splits, axes = list[str](), list[str](), list[str]()
        for place, size in zip(places, shape, strict=True):
            found = digits(place, size, self.extent)
            if found is None:
                return self.gathered(form)
            if len(found) > 1:
                sizes = [self.size(axis) if axis and n == radix else str(radix) for axis, _, n, radix in found]
                splits.append(f".unflatten({len(cuts)}, ({', '.join(sizes)}))")
            for axis, start, length, radix in found:
                cuts.append(str(start) if axis is None else
                            ":" if length == radix else self.cut(place, axis, start, start + length == radix))
                axes += [] if axis is None else [axis]
        while cuts and cuts[-1] == ":":
            cuts.pop()
        return Variable(f"{name}{''.join(splits)}{f'[{chr(44).join(cuts)}]' if cuts else ''}", tuple(axes), dtype)

    def cut(self, place: Place, axis: str, start: int, is_last: bool) -> str:
        """A part of a dimension, in sizes of other tensors where these are what it lies behind."""
        past = place.past if place.parts == (Part(axis),) else ()
        first = [str(start - sum(map(self.extent, past))), *map(self.size, past)]
        return f"{added(first) if start else ''}:{'' if is_last else added([*first, self.size(axis)])}"

    def gathered(self, form: Form) -> Variable:
        """A tensor read at places that no view gives: by index."""
        name, *places = form.attributes
        indices = ", ".join(self.index(place, form.axes) for place in places)
        return Variable(f"{self.read[name]}[{indices}]", form.axes, self.specification.tensors[name].dtype)

    def index(self, place: Place, axes: tuple[str, ...]) -> str:
        """The place as a tensor that broadcasts over the axes."""
        start = place.start(self.extent)
        terms = [str(start)] * (start != 0 or not place.parts)
        for part in reversed(place.parts):
            behind = ", None" * (len(axes) - axes.index(part.axis) - 1)
            position = f"torch.arange({self.size(part.axis)}, device={self.device()}){f'[:{behind}]' if behind else ''}"
            step = stride(part, self.extent)
            terms.insert(0, position if step == 1 else f"{step} * {position}")
        return " + ".join(terms)

    def weight(self, name: str) -> str:
        tensor = self.specification.tensors[name]
        if tensor.value is not None:
            return constant(tensor, f", device={self.device()}")
        if not tensor.path:
            raise Refused(f"the tensor {name} belongs to no module; give a module that holds it as parameter or buffer")
        if tensor.path in self.specification.variables:
            return f"self.of_{tensor.path}"
        module, _, last = tensor.path.rpartition(".")
        if all(part.isidentifier() for part in tensor.path.split(".")):
            return f"self.{tensor.path}"
        return f'getattr(self.get_submodule("{module}"), "{last}")'

    def device(self) -> str:
        return f"{self.read[self.specification.arguments[0]]}.device" if self.specification.arguments else "None"

    # -------------------------------------------------------------------------------------------------------- pointwise

    def _number(self, form: Form) -> Variable:
        value, powers = form.attributes
        if value == Infinity:
            return Variable('float("-inf")', (), "")
        above, below = quotient(value, *([self.size(axis) for axis, k in powers for _ in range(sign * k)]
                                         for sign in (1, -1)))
        shown = f"{above} / {below}" if below else above
        if below and needs_two_steps(value * prod(Fraction(self.extent(axis)) ** k for axis, k in powers)):
            self.quotients[shown] = above, below
        return Variable(shown, (), "")

    def _position(self, form: Form) -> Variable:
        return self.let(self.index(form.attributes[0], form.axes), form.axes, "int64", form)

    def apply(
        self, form: Form, pattern: str, xs: Sequence[Form], dtype: str | None = None, plain: bool = False
    ) -> Variable:
        """A line: the pattern with the operands, brought over the same axes. Where these are plain numbers, so is what
        comes of them if it may be `plain`; functions of torch take a tensor."""
        variables = [self.variable(x) for x in xs]
        if not plain and not any(v.dtype for v in variables):
            given = "float64" if dtype == "bool" else dtype or self.real
            text = f"torch.tensor({variables[0].text}, dtype=torch.{given}, device={self.device()})"
            variables[0] = Variable(text, (), given)
        shown, axes = aligned(variables)
        units = [unit(s) for s in shown] if " " in pattern or "}." in pattern else shown
        return self.let(pattern.format(*units), axes, dtype or promoted(v.dtype for v in variables), form)

    def _plus(self, form: Form) -> Variable:
        """A sum; it goes on from the longest one that there is already of some of its terms."""
        terms, codes = sorted(form.arguments, key=finite), [self.key(term)[0] for term in form.arguments]
        for term in terms:
            self.variable(term)                        # sums inside these come first
        for known in sorted(self.sums, key=len, reverse=True):
            part = f.plus(*(term for term, code in zip(form.arguments, codes, strict=True) if code in known))
            whole = len(part.arguments) == len(known) < len(terms) and part.operator == "plus"
            if whole and (self.key(part)[0], "") in self.made:
                terms = [part, *(term for term in terms if term not in part.arguments)]
                break
        self.sums.append(frozenset(codes))
        return self.apply(form, " + ".join("{}" for _ in terms), terms, plain=True)

    def _power(self, form: Form) -> Variable:
        (q,), (x,) = form.attributes, form.arguments
        pattern = {HALF: "{}.sqrt()", -HALF: "{}.rsqrt()", Fraction(-1): "{}.reciprocal()", Fraction(2): "{}.square()"}
        v = self.variable(x)
        if not v.dtype:
            return Variable(f"{v.unit} ** {literal(float(q))}", (), "")
        return self.apply(form, pattern.get(q, f"{{}} ** {literal(float(q))}"), [x])

    def _extremum(self, form: Form) -> Variable:
        (op,), (a, b) = form.attributes, sorted(form.arguments, key=lambda x: x.operator == "number")
        if b.operator == "number":
            return self.apply(form, f"{{}}.clamp({'min' if op == 'max' else 'max'}={self.variable(b).text})", [a])
        return self.apply(form, f"torch.{op}imum({{}}, {{}})", [a, b])

    def _where(self, form: Form) -> Variable:
        dtype = promoted(self.variable(x).dtype for x in form.arguments[1:])
        pattern = "torch.where({}, {}, {})"
        if not dtype:                                    # of two numbers: reals, as precise as the program
            dtype = self.real
            pattern = f"torch.where({{}}, 0.0 + {{}}, {{}}).to(torch.{dtype})"
        return self.apply(form, pattern, form.arguments, dtype)

    @cached_property
    def real(self) -> str:
        """The dtype of the program's real numbers."""
        return next((t.dtype for t in self.specification.tensors.values() if t.kind == "real"), "float32")

    def _concat(self, form: Form) -> Variable:
        axis, parts = form.attributes
        variables = [self.variable(x) for x in form.arguments]
        rest = [a for a in form.axes if a != axis]
        dtype, shown = promoted(v.dtype for v in variables) or self.real, []
        for part, v in zip(parts, variables, strict=True):
            whole = over(v, (*rest, part) if part is not None else tuple(rest))
            sizes = [self.size(a) for a in rest] + [self.size(part) if part else "1"]
            one = whole if part is not None else f"{unit(whole)}[..., None]"
            if set(v.axes) != {*rest, *([part] if part else [])}:
                one = f"{unit(one)}.expand({', '.join(sizes)})"
            shown.append(one)
            if not v.dtype:
                shown[-1] = f"torch.full(({', '.join(sizes)}, ), {v.text}, dtype=torch.{dtype}, device={self.device()})"
        expression = f"torch.cat([{', '.join(shown)}], -1)"
        return self.let(expression, (*rest, axis), dtype, form)

    def _lookup(self, form: Form) -> Variable:
        (axis,), (x, i) = form.attributes, form.arguments
        found = looked_up(self.variable(x), axis, self.variable(i), self.size)
        return self.let(found.text, found.axes, found.dtype, form)

    def _fold(self, form: Form) -> Variable:
        monoid, axes = form.attributes
        return self.reduce(self.variable(form.arguments[0]), axes, "a" + monoid, form)

    def reduce(self, v: Variable, axes: Iterable[str], how: str, form: Form | None) -> Variable:
        dims = sorted(v.axes.index(axis) - len(v.axes) for axis in axes)
        shown = str(dims[0]) if len(dims) == 1 else str(tuple(dims))
        return self.let(f"{v.unit}.{how}({shown})", tuple(a for a in v.axes if a not in axes), v.dtype, form)

    # ----------------------------------------------------------------------------------------------------- contractions

    def contract(self, form: Form, factors: list[Form], over: tuple[str, ...]) -> Variable:
        """A sum of a product, two factors at a time."""
        factors, over, means = self.averaged(*self.opened(factors, over))
        found = with_softmax(factors)
        weights = [x for x in found if isinstance(x, Softmax) and x.axes == over]
        if len(weights) == 1 and not means and len(found) > 1:
            whole = attention(weights[0], f.times(*(x for x in found if not isinstance(x, Softmax))))
            if whole is not None:
                return self.attention(form, whole)
        variables = [self.softmax(x) if isinstance(x, Softmax) else self.factor(x) for x in found] + means
        if len(variables) == 1 and set(over).isdisjoint(variables[0].axes):
            return variables[0]
        _, plan = steps([v.axes for v in variables], over, priced(self.extents, *PRICES))
        for k, step in enumerate(plan):
            last = form if k == len(plan) - 1 else None
            left = variables[step.left]
            if step.right is None:
                gone = [axis for axis in left.axes if axis not in step.axes]
                variables.append(self.reduce(left, gone, "sum", last))
            else:
                variables.append(self.product(left, variables[step.right], step.axes, last))
        return variables[-1]

    def factor(self, x: Form) -> Variable:
        """A factor; an inverse is divided by."""
        if x.operator == "power" and x.attributes[0] == -1 and not finite(x.arguments[0]):
            v = self.variable(x.arguments[0])
            return Variable(f"1 / {v.unit}", v.axes, v.dtype)
        return self.variable(x)

    def opened(self, factors: list[Form], over: tuple[str, ...]) -> tuple[list[Form], tuple[str, ...]]:
        """A number times a sum, as one sum."""
        if not over and len(factors) == 2 and finite(factors[0]):
            operator, attributes, below = parts_of(factors[1])
            if operator == "contract" and factors[1] not in self.shown:
                return [factors[0], *below], attributes[0]
        return factors, over

    def averaged(
        self, factors: list[Form], over: tuple[str, ...]
    ) -> tuple[list[Form], tuple[str, ...], list[Variable]]:
        """Factors in which 1/|k|·Σ_k of one factor is its mean; and that mean as a variable."""
        number = next((x for x in factors if finite(x)), None)
        if number is None:
            return factors, over, []
        value, powers = number.attributes
        rest = [x for x in factors if x is not number]
        for axis, k in powers:
            owners = [x for x in rest if axis in x.axes]
            if k == -1 and axis in over and len(owners) == 1 and owners[0].operator != "number":
                others = [a for a, q in powers if q == -1 and a in over and a in owners[0].axes
                          and sum(a in x.axes for x in rest) == 1]
                mean = self.mean(owners[0], others)
                left = f.number(value, tuple((a, q) for a, q in powers if a not in others))
                rest = [x for x in rest if x is not owners[0]]
                rest += [left] if left is not f.ONE else []
                return rest, tuple(a for a in over if a not in others), [mean]
        return factors, over, []

    def mean(self, x: Form, axes: list[str]) -> Variable:
        meaning = f.times(f.power(f.extent(*axes), -1), f.fold("sum", axes, x))
        return self.once(meaning, "mean", lambda: self.reduce(self.variable(x), axes, "mean", meaning))

    def softmax(self, found: Softmax) -> Variable:
        def make() -> Variable:
            v, axes = self.variable(found.x), found.axes
            order = (*(a for a in v.axes if a not in axes), *axes)
            if len(axes) == 1:
                return self.let(f"{v.unit}.softmax({v.axes.index(axes[0]) - len(v.axes)})", v.axes, v.dtype, None)
            sizes = ", ".join(map(self.size, axes))
            rows = f"{unit(permuted(v, order))}.flatten({-len(axes)})"
            return self.let(f"{rows}.softmax(-1).unflatten(-1, ({sizes}))", order, v.dtype, None)

        return self.variable(found.whole) if found.hiding else self.once(found.whole, "softmax", make)

    def attention(self, form: Form, found: Attention) -> Variable:
        """Attention by torch's own operator."""
        q, k, v = (self.variable(x) for x in (found.query, found.key, found.value))
        heads, dtype = [axis for axis in q.axes if axis in found.heads], promoted((q.dtype, k.dtype, v.dtype))
        shown = [permuted(self.widened(x, dtype), [*heads, *rest]) for x, rest in (
            (q, (*found.group, found.t, found.e)), (k, (found.s, found.e)), (v, (found.s, found.v)))]
        options = []
        if found.group:
            shown[0] = f"{unit(shown[0])}.flatten({len(heads) - 1}, {len(heads)})"
        if found.mask is not None:
            options.append(f"attn_mask={over(self.variable(found.mask), (*heads, found.t, found.s))}")
        options += ["is_causal=True"] * found.causal
        if found.scale is not f.power(f.extent(found.e), -HALF):
            options.append(f"scale={self.variable(found.scale).text}")
        options += ["enable_gqa=True"] * bool(found.group)
        expression = f"F.scaled_dot_product_attention({', '.join([*shown, *options])})"
        if found.group:
            sizes = ", ".join(map(self.size, (heads[-1], *found.group)))
            expression += f".unflatten({len(heads) - 1}, ({sizes}))"
        return self.let(expression, (*heads, *found.group, found.t, found.v), dtype, form)

    def product(self, a: Variable, b: Variable, axes: tuple[str, ...], form: Form | None) -> Variable:
        """Two operands multiplied, and summed over the axes that the result lacks."""
        gone = [axis for axis in a.axes if axis in b.axes and axis not in axes]
        dtype = promoted((a.dtype, b.dtype))
        names = tuple(dict.fromkeys(axis for v in sorted((a, b), key=lambda v: v.text) for axis in v.axes))
        places = sorted((v.text, tuple(map(names.index, v.axes))) for v in (a, b))
        key = "product", *places, frozenset(map(names.index, axes)), tuple(map(self.extent, names))
        if key not in self.made:
            made = self.multiplied(a, b, dtype, form) if not gone else self.summed(a, b, gone, axes, form)
            self.made[key] = made, names
        found, named = self.made[key]
        other = dict(zip(named, names, strict=True))
        return Variable(found.text, tuple(other[axis] for axis in found.axes), found.dtype)

    def summed(
        self, a: Variable, b: Variable, gone: list[str], axes: tuple[str, ...], form: Form | None
    ) -> Variable:
        """Σ over the axes `gone` of a product, by the operator that reads best."""
        dtype = promoted((a.dtype, b.dtype))
        a, b = (self.widened(v, dtype) for v in sorted((a, b), key=lambda v: self.before(v, gone)))
        both = [axis for axis in a.axes if axis in b.axes and axis in axes]
        if len(gone) == 1 and not both:
            if 1 in (len(a.axes), len(b.axes)):
                x, y = (a, b) if len(b.axes) == 1 else (b, a)
                rest = [axis for axis in x.axes if axis != gone[0]]
                shown = unit(permuted(x, [*rest, gone[0]]))
                return self.let(f"{shown} @ {y.unit}", tuple(rest), dtype, form)
            if 2 in (len(a.axes), len(b.axes)):
                return self.linear(*((a, b) if len(b.axes) == 2 else (b, a)), gone[0], dtype, form)
        rows = [axis for axis in a.axes if axis not in b.axes]
        columns = [axis for axis in b.axes if axis not in a.axes]
        if len(gone) == len(rows) == len(columns) == 1:
            left = unit(permuted(a, [*both, *rows, *gone]))
            right = unit(permuted(b, [*both, *gone, *columns]))
            return self.let(f"{left} @ {right}", (*both, *rows, *columns), dtype, form)
        return self.einsum(a, b, (*both, *rows, *columns), dtype, form)

    def before(self, v: Variable, gone: list[str]) -> tuple[bool, int]:
        """The left operand is one whose last axis is summed; then the one whose axes come first in the outputs."""
        places = [self.order.index(axis) for axis in v.axes if axis not in gone and axis in self.order]
        return v.axes[-1] not in gone, min(places, default=len(self.order))

    @cached_property
    def order(self) -> list[str]:
        return [axis for root in self.roots for dim in root.dims for axis in dim]

    def linear(self, x: Variable, w: Variable, k: str, dtype: str, form: Form | None) -> Variable:
        """x over its last axis with a matrix."""
        rest = [axis for axis in x.axes if axis != k]
        (column,) = (axis for axis in w.axes if axis != k)
        left = permuted(x, [*rest, k])
        shown = f"F.linear({left}, {permuted(w, [column, k])})"
        if w.axes[0] == k:
            shown = f"{unit(left)} @ {w.unit}"
        return self.let(shown, (*rest, column), dtype, form)

    def einsum(self, a: Variable, b: Variable, axes: tuple[str, ...], dtype: str, form: Form | None) -> Variable:
        letters = dict(zip(dict.fromkeys((*a.axes, *b.axes)), "abcdefghijklmnopqrstuvwxyz", strict=False))
        sides = ["".join(letters[axis] for axis in group) for group in (a.axes, b.axes, axes)]
        return self.let(f'torch.einsum("{sides[0]},{sides[1]}->{sides[2]}", {a.text}, {b.text})', axes, dtype, form)

    def multiplied(self, a: Variable, b: Variable, dtype: str, form: Form | None) -> Variable:
        """Elementwise; an inverse divides, and so does the divisor of a number that nobody could read in a float."""
        if a.text.startswith("1 / ") and not b.text.startswith("1 / "):
            a, b = b, a
        inverse = b.text.startswith("1 / ")
        if inverse:
            b = Variable(b.text.removeprefix("1 / "), b.axes, b.dtype)
        if a.text == "-1":
            return self.let(f"-1 / {b.unit}" if inverse else f"-{b.unit}", b.axes, dtype, form)
        if a.text in self.quotients and b.dtype:
            above, below = self.quotients[a.text]
            shown = f"{above} / {b.unit}" if inverse else b.unit if above == "1" else f"{b.unit} * {above}"
            return self.let(f"{shown} / {below}", b.axes, dtype, form)
        (left, right), axes = aligned((a, b))
        units = [unit(s) for s in (left, right)]
        if not a.dtype and not b.dtype:
            return Variable(f"{units[0]} {'/' if inverse else '*'} {units[1]}", (), "")
        return self.let(f"{units[0]} {'/' if inverse else '*'} {units[1]}", axes, dtype, form)

    def widened(self, v: Variable, dtype: str) -> Variable:
        return v if v.dtype in (dtype, "") else Variable(f"{v.unit}.to(torch.{dtype})", v.axes, dtype)

    # ---------------------------------------------------------------------------------------------------------- results

    def output(self, output: Output, apart: bool = False) -> str:
        """The form as a tensor of the program's shape and dtype; with a dimension for each axis, if they stay apart."""
        v = self.variable(self.roots[output])
        flat = [axis for dim in output.dims for axis in dim]
        expression = self.shaped(v, tuple((axis,) for axis in flat) if apart else output.dims, flat)
        if v.dtype != output.dtype:
            expression = f"{unit(expression)}.to(torch.{output.dtype})"
        return expression

    def laid(self, expression: str, output: Output) -> str:
        """As it lies in memory where the program returns it; a portion, and what is returned before, as a copy."""
        turned, (name, *_) = output.turned, re.findall(r"\w+", expression)
        read = output.copied and name in {re.findall(r"\w+", text)[0] for text in self.read.values()} - self.own
        shared = read or name in self.given or self.cut_out(self.roots[output]) is not None
        self.given.add(name)
        lies = "clone(memory_format=torch.contiguous_format)" if shared else "contiguous()"
        if turned == tuple(range(len(turned))):
            return f"{unit(expression)}.{lies}"
        back = tuple(turned.index(d) for d in range(len(turned)))
        return f"{unit(expression)}.permute({turned}).{lies}.permute({back})"

    def shaped(self, v: Variable, dims: Dims, flat: list[str]) -> str:
        if not v.dtype:
            sizes = "".join(f"{self.size(a)}, " for a in flat)
            v = Variable(f"torch.full(({sizes}), {v.text}, device={self.device()})", tuple(flat), "float32")
        expression = over(v, tuple(flat))
        if set(flat) != set(v.axes):
            sizes = ", ".join(self.size(a) for a in flat)
            expression = f"{unit(expression)}.expand({sizes})"
        if all(len(dim) == 1 for dim in dims):
            return expression
        sizes = ", ".join(" * ".join(self.size(a) for a in dim) or "1" for dim in dims)
        return f"{unit(expression)}.reshape({sizes})"
