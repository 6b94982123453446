"""AOTInductor: the program exported, compiled to a shared library, and loaded again."""

from samesame.fuzz.backends.backend import EXPORTED, Backend

PACKAGED = "compiled = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(exported))"
BACKENDS = (Backend("aotinductor", "inductor", EXPORTED + PACKAGED),)
