"""The text of a torch module that takes the place of a program: it shares the tensors of a module, or those that a
function refers to as variables of its file, and computes line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

HEAD = '''"""{title}, rewritten by samesame optimize. Each line has its formula beside it."""

import torch
from torch import nn
from torch.nn import functional as F
{above}

class Fast(nn.Module):
    """Takes the original module, and shares its weights."""

    def __init__(self, original: nn.Module | None = None) -> None:
        super().__init__()
        if isinstance(original, nn.Module):
            for name, child in original.named_children():
                self.add_module(name, child)
            for name, parameter in original.named_parameters(recurse=False):
                self.register_parameter(name, parameter)
            for name, buffer in original.named_buffers(recurse=False):
                self.register_buffer(name, buffer)
{held}{ahead}
    def forward(self{arguments}):
{body}'''
HELD = '''        elif original is not None:
            for name in {names}:
                self.register_buffer(f"of_{{name}}", original.__globals__[name])
'''


def module_text(
    title: str, arguments: Iterable[str], lines: Iterable[str], ahead: Iterable[str], above: str,
    variables: Sequence[str],
) -> str:
    """A file with a class `Fast` of these lines in its forward, after those that are made `ahead` of calls; what else
    it needs stands `above`. A function's `variables` are buffers, as `of_name`."""
    body, before = ("".join(f"        {line}\n" for line in each) for each in (lines, ahead))
    held = HELD.format(names=tuple(variables)) if variables else ""
    return HEAD.format(title=title, arguments="".join(f", {name}" for name in arguments), above=above, held=held,
                       ahead=before, body=body)
