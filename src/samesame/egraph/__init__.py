"""An e-graph: congruence closure over terms, rewriting by rules, and a checkable explanation of every equality.

It knows nothing of tensors: operators are names, attributes and types are hashable values. Start at `engine.py`.
"""

from samesame.egraph.engine import Budget, EGraph, Report
from samesame.egraph.explain import Explanation, Step
from samesame.egraph.extract import Extraction
from samesame.egraph.rules import Operand, Rule, RuleError, rules
from samesame.egraph.terms import CONGRUENCE, EGraphError, Evidence, Reason, RuleUse, Term

__all__ = [
    "CONGRUENCE",
    "Budget",
    "EGraph",
    "EGraphError",
    "Evidence",
    "Explanation",
    "Extraction",
    "Operand",
    "Reason",
    "Report",
    "Rule",
    "RuleError",
    "RuleUse",
    "Step",
    "Term",
    "rules",
]
