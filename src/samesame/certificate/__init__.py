"""Certificates: `certify` writes every step of a verdict as data, and `replay` checks such data without searching.

The two share nothing but the data: `replay`, with `forms`, `questions`, `runs` and `stored`, imports nothing of the
prover's, and the independent evaluator (`evaluator.py`) beside it; these files are all there is to audit. `outline`
says what a certificate that does not hold lacks.
"""
