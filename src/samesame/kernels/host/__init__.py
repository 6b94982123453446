"""Code around Triton kernels, on a machine without a GPU.

`trace` notes what it launches, on fake tensors (`launch`, `launches`), with `sizes` that stay symbols and a pretended
`device`; `interpret` computes it in Triton's interpreter (`language`, `bfloat`); `failures` puts what goes wrong into a
sentence.
"""
