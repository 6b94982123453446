"""torch.export, with its default decompositions: the program that other tools take."""

from samesame.fuzz.backends.backend import EXPORTED, Backend

BACKENDS = (Backend("export", "export", f"{EXPORTED}compiled = exported.run_decompositions().module()"),)
