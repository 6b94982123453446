"""AOTAutograd without a code generator: functionalisation, with and without inductor's decompositions."""

from samesame.fuzz.backends.backend import Backend

NAMES = ("aot_eager", "aot_eager_decomp_partition")
BACKENDS = tuple(Backend(name, "aot", f'compiled = torch.compile(program, backend="{name}")') for name in NAMES)
