"""How tensors lie in memory, and what is made of them: what a form reads, and along which axes.

A tensor that is looked up in lies as its table does. What is computed element by element is best kept as the largest
tensor lies that it is made of: else one of the two would be read, or written, across.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samesame.optimize.forms import Form, walk


def is_tensor(form: Form) -> bool:
    """Whether its elements are those of a tensor, read one by one or looked up."""
    return table_of(form).operator == "load"


def table_of(form: Form) -> Form:
    """What is looked up in; a form that looks nothing up is its own."""
    while form.operator == "lookup":
        form = form.arguments[0]
    return form


def look_ups_of(form: Form) -> dict[str, Form]:
    """The axes along which a table is looked up, the last first, and at which integers."""
    found = dict[str, Form]()
    while form.operator == "lookup":
        found[form.attributes[0]] = form.arguments[1]
        form = form.arguments[0]
    return found


def in_turn(table: Form, looked: Mapping[str, Form]) -> tuple[str, ...]:
    """The axes of a table as it is kept: those that the integers have, too, then a row as it is looked up; where single
    elements are, these lie side by side."""
    indices = {axis for i in looked.values() for axis in i.axes}
    both = [axis for axis in table.axes if axis in indices and axis not in looked]
    rest = [axis for axis in table.axes if axis not in both and axis not in looked]
    return (*both, *rest, *looked) if len(looked) > 1 else (*both, *looked, *rest)


LEAVES = frozenset({"load", "fold", "concat", "lookup"})


def leaves(form: Form) -> list[Form]:
    """What a form is computed of: tensors, and what is kept as one where it is summed up in pairs."""
    return [x for x in walk(form, arguments=lambda x: () if x.operator in LEAVES else x.arguments)
            if x.operator in LEAVES]


def in_memory(tensor: Form) -> list[str]:
    """The axes of a tensor that is given, the one along which it lies in memory last."""
    return [part.axis for place in table_of(tensor).attributes[1:] for part in place.parts]


def as_it_lies(form: Form, axes: Sequence[str]) -> tuple[str, ...]:
    """Those of the axes that the form has, in the order in which the largest tensor that it is made of has them; what
    that one has not comes first. In this order where several are as large that end in other axes: differences of all
    pairs."""
    lies = [in_memory(x) for x in leaves(form) if x.operator == "load"]
    largest = [one for one in lies if len(one) == max(map(len, lies))]
    own = [axis for axis in axes if axis in form.axes]
    if not largest or len({one[-1] for one in largest if one}) > 1:
        return tuple(own)
    return tuple(sorted(own, key=lambda axis: largest[0].index(axis) if axis in largest[0] else -1))
