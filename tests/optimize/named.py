"""Forms worked out on numbers, one broadcast tensor over all axes at each step: slow, plain, and nothing of ours."""

from __future__ import annotations

from math import prod

import torch

from samesame.optimize.forms import Form, base, walk

FUNCTIONS = {
    "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu, "elu": torch.nn.functional.elu,
    "softplus": torch.nn.functional.softplus,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}
BOTH = {
    "minus": lambda a, b: a - b, "<": torch.lt, "≤": torch.le, "=": torch.eq, "max": torch.maximum,
    "min": torch.minimum, "and": torch.logical_and, "or": torch.logical_or, "where": torch.where,
    "not": torch.logical_not,
}


def worked_out(form: Form, tensors, extents, dims=None):
    """The form's elements in float64; dimensions are its free axes, or these groups of them."""
    named = {axis for part in walk(form) for axis in (*part.axes, *bound(part))}
    axes = sorted(named.union(*(dims or ())))
    size = {axis: extents.get(axis, extents.get(base(axis))) for axis in axes}
    found = {}

    def place(where):
        total = torch.tensor(where.offset + sum(extents[base(a)] for a in where.past))
        for axis, factor, over in where.parts:
            shape = [size[axis] if a == axis else 1 for a in axes]
            total = total + factor * prod(extents[base(a)] for a in over) * torch.arange(size[axis]).reshape(shape)
        return total

    def of(part):
        operator, attributes = part.operator, part.attributes
        xs = [found[x] for x in part.arguments]
        if operator == "load":
            source = tensors[attributes[0]]
            source = source.double() if source.is_floating_point() else source
            return source[tuple(map(place, attributes[1:]))].reshape([1] * len(axes)) if len(attributes) == 1 else (
                source[torch.broadcast_tensors(*map(place, attributes[1:]))])
        if operator == "number":
            value = float("-inf") if attributes[0] == "-∞" else float(attributes[0])
            counts = prod(extents.get(a, extents.get(base(a))) ** k for a, k in attributes[1])
            return torch.tensor(value * counts, dtype=torch.float64)
        if operator == "position":
            return place(attributes[0]).double()
        if operator == "fold":
            whole = xs[0].expand([size[a] if a in attributes[1] else -1 for a in axes])
            over = [axes.index(a) for a in attributes[1]]
            return {"sum": torch.sum, "max": torch.amax}[attributes[0]](whole, over, keepdim=True)
        if operator == "concat":
            d = axes.index(attributes[0])
            parts = []
            for name, x in zip(attributes[1], xs, strict=True):
                x = x.reshape([1] * len(axes)) if x.dim() == 0 else x
                x = x.expand([size[a] if a == name else -1 for a in axes])
                parts.append(x if name is None else x.transpose(d, axes.index(name)))
            shape = torch.broadcast_shapes(*([*x.shape[:d], 1, *x.shape[d + 1:]] for x in parts))
            return torch.cat([x.expand([*shape[:d], x.shape[d], *shape[d + 1:]]) for x in parts], d)
        if operator in ("plus", "times"):
            total = xs[0]
            for x in xs[1:]:
                total = total + x if operator == "plus" else total * x
            return total
        if operator == "lookup":
            d, (table, index) = axes.index(attributes[0]), [x.reshape(x.shape or [1] * len(axes)) for x in xs]
            shape = list(torch.broadcast_shapes((*table.shape[:d], 1, *table.shape[d + 1:]), index.shape))
            index = index.expand(shape).long()
            return table.expand([*shape[:d], table.shape[d], *shape[d + 1:]]).gather(d, index)
        if operator == "power":
            return xs[0] ** float(attributes[0])
        if operator == "cast":
            return xs[0]
        if operator == "fn":
            return (FUNCTIONS.get(attributes[0]) or getattr(torch, attributes[0]))(xs[0])
        return BOTH[attributes[0] if attributes else operator](*xs)

    for part in walk(form):
        found[part] = of(part)
    groups = [(axis,) for axis in form.axes] if dims is None else dims
    wanted = [axis for group in groups for axis in group]
    whole = found[form].expand([size[a] if a in wanted else -1 for a in axes]) if axes else found[form]
    order = [axes.index(a) for a in wanted]
    rest = [d for d in range(len(axes)) if d not in order]
    return whole.permute((*order, *rest)).reshape([prod(size[a] for a in group) for group in groups])


def bound(part):
    if part.operator in ("fold", "lookup"):
        return part.attributes[1] if part.operator == "fold" else part.attributes
    return [a for a in part.attributes[1] if a] if part.operator == "concat" else ()
