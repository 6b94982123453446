import torch
import triton
import triton.language as tl


@triton.jit
def slot_mapping_kernel(pos_ptr, req_ptr, table_ptr, slot_ptr, T, stride_table, PAGE: tl.constexpr,
                        BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < T
    pos = tl.load(pos_ptr + i, mask=mask, other=0)
    req = tl.load(req_ptr + i, mask=mask, other=0)
    block = tl.load(table_ptr + req * stride_table + pos // PAGE, mask=mask, other=0)
    slot = block.to(tl.int64) * PAGE + pos % PAGE
    tl.store(slot_ptr + i, slot, mask=mask)


def launch(T=50, R=4, per_request=6, blocks=32):
    positions = torch.randint(0, 16 * per_request, (T,), device="cuda")
    req = torch.randint(0, R, (T,), device="cuda")
    table = torch.randint(0, blocks, (R, per_request), dtype=torch.int32, device="cuda")
    slots = torch.empty(T, dtype=torch.int64, device="cuda")
    slot_mapping_kernel[(triton.cdiv(T, 32),)](positions, req, table, slots, T, table.stride(0), PAGE=16, BLOCK=32)
    return slots


launch.assume = ["0 <= positions < 16 * per_request", "0 <= req < R", "0 <= table < blocks"]


def reference(positions, req, table):
    return table[req, positions // 16].long() * 16 + positions % 16


TRUTH = "verified"
