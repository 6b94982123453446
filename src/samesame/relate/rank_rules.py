"""Rules of ranks: a claim about a piece is proved of a piece anywhere, once, and every rank's claim is an instance.

Eight ranks hold eight pieces of each tensor, and compute the same with each. So a block that cuts pieces out is first
generalised, its sizes and where its pieces start included, and the general block is proved in its place. Where that
fails each rank's block is proved by itself. Blocks without pieces repeat as they are, layer by layer, and need no rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from samesame.evidence import Evidence, Rung
from samesame.formula.assumptions import never_holds
from samesame.relate.blocks import Block, key_of
from samesame.relate.generalise import generalise, has_pieces
from samesame.relate.rules import Prove, Rule, Rulebook


@dataclass(slots=True)
class RankRules(Rulebook):
    """A book of this run alone, of rules about pieces."""

    seconds: float = 1.0

    def _found(self, block: Block, prove: Prove) -> tuple[Evidence, bool] | None:
        """Evidence for the block as an instance of a rule, which is proved here when it is first asked for."""
        if not has_pieces(block.graph):
            return None
        general = generalise(block.graph, block.ranges, as_sizes=True, as_variables=True, anywhere=True)
        key = "" if general is None else key_of(general.graph, general.ranges)
        if general is None or key in self.narrow:
            return None
        if key not in self.known:
            wide = replace(block, graph=general.graph, ranges=general.ranges, key=key)
            found = self.aside(partial(prove, wide))
            if not isinstance(found, Evidence):
                self.narrow.add(key)
                return None
            self.known[key] = Rule(key[:12], wide, replace(found, rung=Rung.PROVED, proof=key[:12]))
            self.own.add(key)
        evidence = self.known[key].evidence
        assert evidence is not None
        told = general.instance.of(evidence.conditions)
        return None if any(map(never_holds, told)) else (replace(evidence, conditions=told), True)

    def learn(self, block: Block, evidence: Evidence, prove: Prove) -> None:
        """Nothing: what is worth a rule was made one before it was proved."""
