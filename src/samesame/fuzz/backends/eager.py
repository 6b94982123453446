"""Eager torch itself, for a check of the check: nothing may ever be found."""

from samesame.fuzz.backends.backend import Backend

BACKENDS = (Backend("eager", "eager", "compiled = program"),)
