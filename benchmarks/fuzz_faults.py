"""Faults to plant into Inductor: one line each, as a module's text before and after; and the pass or lowering to blame.

`guilty` is a part of what torch's bisector must name; `calls` finds the names of calls that lead to the place, as a
rule. `planted(fault, folder)` writes a sitecustomize.py that changes
the module's text when Python imports it, so that a process with that folder on its PYTHONPATH has the fault and no file
of torch is touched. The texts are of torch 2.13.0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from samesame.fuzz.program import Program


class Fault(NamedTuple):
    name: str
    module: str
    before: str
    after: str
    guilty: str
    calls: str

    def met(self, program: Program) -> bool:
        """Whether the program is likely to come to the place."""
        return any(re.search(self.calls, call) for call in program.calls)


CPP, LOWERING, IR = "codegen.cpp", "lowering", "ir"
POST, JOINT, REINPLACE = "fx_passes.post_grad", "fx_passes.joint_graph", "fx_passes.reinplace"
FAULTS = [
    Fault("a vector maximum that forgets NaN", CPP, 'f"at::vec::maximum({a}, {b})"',
          'f"decltype({a})::blendv({a}, {b}, {a} < {b})"', "lowerings", "max|relu|clamp"),
    Fault("a scalar minimum that forgets NaN", CPP, 'f"min_propagate_nan({a}, {b})"', 'f"({a} < {b} ? {a} : {b})"',
          "lowerings", "min|clamp"),
    Fault("the identity of a maximum is the smallest positive number", CPP,
          'f"-std::numeric_limits<{cdtype}>::infinity()"', 'f"std::numeric_limits<{cdtype}>::min()"', "lowerings",
          "max"),
    Fault("the identity of a minimum of integers is 0", CPP, 'else f"std::numeric_limits<{cdtype}>::max()"',
          'else "0"', "lowerings", "min"),
    Fault("any of several is all of them", CPP, 'f"{var} || {next_value}"', 'f"{var} && {next_value}"', "lowerings",
          "any"),
    Fault("integers are divided towards zero", CPP, 'f"floor_divide_integral({a}, {b})"', 'f"{a} / {b}"',
          "lowerings", "div"),
    Fault("halves are rounded away from zero in the scalar rest", CPP, 'f"std::nearbyint({x})"', 'f"std::round({x})"',
          "lowerings", "round"),
    Fault("the absolute value of an integer is cut to 32 bits", CPP, 'f"std::abs({x})"',
          'f"decltype({x})(std::abs(static_cast<int>({x})))"', "lowerings", "abs"),
    Fault("a vector comparison is the other way round for equal numbers", CPP,
          'f"{V.kernel._get_mask_type(x.dtype)}({x} <= {y})"', 'f"{V.kernel._get_mask_type(x.dtype)}({x} < {y})"',
          "lowerings", r"\.le(ss_equal)?_?$"),
    Fault("the sign of a scalar forgets the negative", CPP, 'f"auto right = {x} < 0 ? {scalar_one} : {scalar_zero};"',
          'f"auto right = {scalar_zero};"', "lowerings", "sign|sgn"),
    Fault("a mean divides by one of its dimensions", LOWERING, "denom = sympy_product(size[i] for i in axis)",
          "denom = size[axis[0]] if axis else sympy_product([])", "lowerings", "mean|var|std|norm"),
    Fault("a flip starts at the wrong end", LOWERING, "idx[dim] = (sizes[dim] - 1) - idx[dim]",
          "idx[dim] = (sizes[dim] - 1) - idx[dim] if sizes[dim] > 2 else idx[dim]", "lowerings", "flip|rot90"),
    Fault("a repeat reads every other element", LOWERING, "ModularIndexing(index[i], 1, old_size[i])",
          "ModularIndexing(index[i], repeats[i], old_size[i])", "lowerings", "tile|repeat"),
    Fault("the mask of a padding is one too long", LOWERING, "mask.append(range_mask_high(idx, length))",
          "mask.append(range_mask_high(idx, length + 1))", "lowerings", "pad"),
    Fault("a concatenation begins its second part one too late", LOWERING,
          "ops.index_expr(inputs_ranges[i][1], torch.int64)", "ops.index_expr(inputs_ranges[i][1] + 1, torch.int64)",
          "lowerings", "cat|stack"),
    Fault("a diagonal below the main one is the main one", LOWERING, "base_idx = (-offset, 0)", "base_idx = (0, 0)",
          "lowerings", "diag|trace"),
    Fault("a negative position of a select is one off", LOWERING, "actual_index = idx + size",
          "actual_index = idx + size - 1", "lowerings", "select|unbind"),
    Fault("windows lose their step", LOWERING, "dim_idx = idx[-1] + idx[dim] * step", "dim_idx = idx[-1] + idx[dim]",
          "lowerings", "unfold"),
    Fault("a gated unit gates the other half", LOWERING, "return mul(a, sigmoid(b))", "return mul(sigmoid(a), b)",
          "lowerings", "glu"),
    Fault("rounding a float does nothing", POST, "return is_integer_dtype(x.dtype)", "return True",
          "post_grad_passes", "round|floor|ceil|trunc"),
    Fault("a power of 0 does nothing", POST, "return isinstance(b, int) and b == 1",
          "return isinstance(b, int) and b in (0, 1)", "post_grad_passes", "pow"),
    Fault("a product with 0.0 is folded and forgets NaN", JOINT, "return isinstance(arg, int) and arg == 0",
          "return isinstance(arg, (int, float)) and arg == 0", "joint_graph_passes", "mul"),
    Fault("a write in place overlooks the next reader", REINPLACE, "if user_loc <= node_loc:",
          "if user_loc <= node_loc + 1:", "reinplace", "[a-z]_$"),
    Fault("a write in place overlooks overlapping views", REINPLACE,
          "return len(compute_overlapping_tensors(ls)) != 0", "return False", "reinplace", "[a-z]_$"),
    Fault("a write in place goes into an input that must stay", REINPLACE,
          "# mutated_arg, so we cannot re-inplace it.\n                return False",
          "# mutated_arg, so we cannot re-inplace it.\n                return True", "reinplace", "[a-z]_$"),
    Fault("a read may be fused with a write at another place", "scheduler", "read.index == write.index\n",
          "len(read.var_names) == len(write.var_names)\n", "", "[a-z]_$"),
]  # fmt: skip

CUSTOMIZED = '''
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader

NAME, BEFORE, AFTER = {told!r}


class Planted(SourceFileLoader):
    def get_code(self, name):
        text = self.get_data(self.path).decode()
        assert BEFORE in text, "the fault has no place here"
        return self.source_to_code(text.replace(BEFORE, AFTER, 1).encode(), self.path)


class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        spec = PathFinder.find_spec(name, path, target)
        spec.loader = Planted(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder())
'''


def planted(fault: Fault, folder: Path) -> Path:
    """The folder, which plants the fault into every Python that has it on its path."""
    folder.mkdir(parents=True, exist_ok=True)
    told = f"torch._inductor.{fault.module}", fault.before, fault.after
    (folder / "sitecustomize.py").write_text(CUSTOMIZED.format(told=told))
    return folder
