"""Two small programs with layers that repeat, fused and with a mistake, checked with a picture, for tests of pages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import torch
from torch import nn

from samesame import check
from samesame.evidence import (
    Because,
    Claim,
    Drawn,
    Edit,
    Evidence,
    Picture,
    Relation,
    Root,
    Rung,
    Site,
    Stands,
    Verdict,
)
from samesame.formula.tensor import leaf, tensor
from samesame.graph import Origin

NASTY = "<script>document.title='hurt'</script>", "a\"b'c&amp;</style>", "\u202eneppets\u2066", "x" * 10_000, "{{7*7}}"


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.q, self.k = nn.LayerNorm(6), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x):
        h = self.norm(x)
        return x + self.q(h) * self.k(h)


class Fused(nn.Module):
    def __init__(self, block: Block, eps: float) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = block.norm.weight, block.norm.bias, eps
        self.qk = nn.Linear(6, 12)
        self.qk.weight.data = torch.cat([block.q.weight, block.k.weight]).detach()
        self.qk.bias.data = torch.cat([block.q.bias, block.k.bias]).detach()

    def forward(self, x):
        low = x - x.mean(-1, keepdim=True)
        h = low * torch.rsqrt(low.square().mean(-1, keepdim=True) + self.eps) * self.weight + self.bias
        q, k = self.qk(h).chunk(2, -1)
        return x + k * q


class Stack(nn.Module):
    def __init__(self, layers) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@cache
def checked(wrong: bool = False, layers: int = 3) -> Verdict:
    """The verdict on a stack and its fused twin; `wrong` with another epsilon in the second layer."""
    torch.manual_seed(0)
    blocks = [Block() for _ in range(layers)]
    for parameter in Stack(blocks).parameters():
        parameter.data.add_(0.2 * torch.randn_like(parameter))
    fused = [Fused(block, 1e-3 if wrong and k == 1 else 1e-5) for k, block in enumerate(blocks)]
    return check(Stack(blocks), Stack(fused), (torch.randn(2, 3, 6),), picture=True)


def three() -> list[Verdict]:
    """The verdicts on a, b and c, of which c stands alone."""
    same, wrong = checked(), checked(wrong=True)
    return [replace(verdict, left=left, right=right)
            for verdict, (left, right) in zip((same, wrong, wrong), combinations("abc", 2), strict=True)]


def nasty() -> Verdict:
    """A verdict in which every text is one that a page must not take for its own."""
    evil, quotes, hidden, long, template = NASTY
    x = leaf(evil, (3,))
    drawn = [Drawn(evil, quotes, (), long, Origin(evil, 3, hidden, template, f"{evil}.0.{long}", quotes)),
             Drawn(quotes, evil, (evil,), hidden, Origin(quotes, 4, long, evil, hidden))]
    claim = Claim(tensor((3,), lambda i: x[i]), tensor((3,), lambda i: x[i]), evil, (hidden, long), (template, evil))
    because = {evil: (Because(evil, quotes, "congruence", (hidden, quotes), (1,)),
                      Because(long, template, evil, (evil,)))}
    picture = Picture((*drawn,), (*drawn,), {"key": claim}, {quotes: ("key", (Stands(evil, evil, quotes),))}, because,
                      ({evil: 1e-7, quotes: float("inf")}, {quotes: 0.0}), {long: {None: 3, -7: 2}, evil: {None: 1}})
    proved = Evidence(Rung.PROVED, "rule", quotes, evil + long, (hidden, template))
    carried = Evidence(Rung.TESTED, "congruence", evil, quotes, (hidden,))
    relations = [Relation((evil,), quotes, long, proved, drawn[0].origin, drawn[1].origin),
                 Relation((quotes,), evil, template, carried, drawn[0].origin, drawn[1].origin)]
    site = Site("left", evil, quotes, drawn[0].origin)
    return Verdict("different", Rung.REFUTED, roots=[Root(evil, evil, quotes, proved)], relations=relations,
                   diagnosis=[Edit(evil, site, quotes, site)], notes=[*NASTY], unpaired=[evil], advice=hidden,
                   picture=picture, timing={evil: 1.0}, left=evil, right=long)
