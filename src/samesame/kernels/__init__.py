"""Triton kernels: what one computes as a formula, for every size, and what must hold besides.

`host` runs the code around a kernel on a machine without a GPU and notes its launches; `front` prepares one of them.
`execution` reads Triton's IR and executes it for all programs and lanes at once, loops in closed form (`loops`);
`tiles` finds who writes each output element; `formulas` lets masks, tiles and program ids vanish; `obligations` says
what must hold besides, and `concrete` looks for a case where it does not. `indices` answers what is asked on the way.
`kernel` puts these together. The verb `lift` and kernels inside models both stand on this room.
"""
