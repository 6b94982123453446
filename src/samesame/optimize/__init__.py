"""optimize: the fastest program that still computes the same.

`verb` is the whole of it. Programs are found by algebra on forms (`specification`, `forms`) and as kernels (`ir`,
`meaning`); they race in processes of their own (`timing`, `racer`, `job`), keep the numeric `contract`, and are handed
out as a `dropin` over the original, in this process or as a folder (`facts`, `saved`).

Nothing is imported here: a racer has its threads to set before torch is loaded.
"""
