"""A linear layer over GPTQ's packed 4-bit weights: unpack, dequantise, matmul."""
import torch

BITS, GROUP, IN, OUT = 4, 8, 16, 16


def unpack_rows(packed):
    shifts = torch.arange(0, 32, BITS, dtype=torch.int32)
    values = torch.bitwise_right_shift(packed.unsqueeze(1), shifts.view(1, -1, 1)) & 15
    return values.reshape(-1, packed.shape[1])


def unpack_columns(packed):
    shifts = torch.arange(0, 32, BITS, dtype=torch.int32)
    values = torch.bitwise_right_shift(packed.unsqueeze(2), shifts.view(1, 1, -1)) & 15
    return values.reshape(packed.shape[0], -1)


def dequantised(x, qweight, qzeros, scales, bias):
    """qweight [IN / 8, OUT] int32, qzeros [groups, OUT / 8] int32, scales [groups, OUT]."""
    weight = unpack_rows(qweight)
    zeros = unpack_columns(qzeros) + 1
    group = torch.arange(IN) // GROUP
    full = scales[group] * (weight - zeros[group]).to(x.dtype)
    return x @ full + bias


def inputs():
    low, high = -(2**31), 2**31 - 1
    return (
        torch.randn(3, IN),
        torch.randint(low, high, (IN // 8, OUT), dtype=torch.int32),
        torch.randint(low, high, (IN // GROUP, OUT // 8), dtype=torch.int32),
        torch.rand(IN // GROUP, OUT),
        torch.randn(OUT),
    )
