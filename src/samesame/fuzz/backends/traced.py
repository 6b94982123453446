"""torch.jit.trace: the trace of one run."""

from samesame.fuzz.backends.backend import Backend

TRACED = "compiled = torch.jit.trace(program, tuple(inputs()), check_trace=False)"
BACKENDS = (Backend("trace", "trace", TRACED),)
