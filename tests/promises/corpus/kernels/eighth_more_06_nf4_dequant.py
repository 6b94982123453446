import torch
import triton
import triton.language as tl


# QLoRA's NF4 as TorchAO has it: two codes to a byte (high one first), one absmax for each 64 values.
@triton.jit
def nf4_dequant(packed_ptr, code_ptr, absmax_ptr, out_ptr, n_bytes, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n_bytes
    byte = tl.load(packed_ptr + i, mask=ok, other=0).to(tl.int32)
    s = tl.load(absmax_ptr + i // 32, mask=ok, other=0.0)
    high = tl.load(code_ptr + (byte >> 4))
    low = tl.load(code_ptr + (byte & 15))
    tl.store(out_ptr + 2 * i, high * s, mask=ok)
    tl.store(out_ptr + 2 * i + 1, low * s, mask=ok)


def launch(blocks=5):
    packed = torch.randint(0, 256, (blocks * 32,), dtype=torch.uint8, device="cuda")
    absmax = torch.rand(blocks, device="cuda")
    code = torch.tensor(
        [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0,
         0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0],
        device="cuda",
    )
    out = torch.empty(blocks * 64, device="cuda")
    nf4_dequant[(triton.cdiv(blocks * 32, 64),)](packed, code, absmax, out, blocks * 32, BLOCK=64)
    return out


def reference(packed, code, absmax):
    nibbles = torch.stack([packed >> 4, packed & 15], dim=-1).reshape(-1, 64)
    return (code[nibbles.long()] * absmax[:, None]).reshape(-1)


TRUTH = "verified"
