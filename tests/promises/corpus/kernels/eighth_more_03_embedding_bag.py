import torch
import triton
import triton.language as tl


# torchrec / fbgemm table-batched embedding, one table: weighted sums of bags of rows.
@triton.jit
def embedding_bag(table_ptr, indices_ptr, weights_ptr, offsets_ptr, out_ptr, dim, BLOCK: tl.constexpr):
    bag = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(offsets_ptr + bag)
    last = tl.load(offsets_ptr + bag + 1)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for p in range(first, last):
        row = tl.load(indices_ptr + p)
        w = tl.load(weights_ptr + p)
        acc += w * tl.load(table_ptr + row * dim + col, mask=col < dim, other=0.0)
    tl.store(out_ptr + bag * dim + col, acc, mask=col < dim)


def launch(bags=6, nnz=17, vocab=12, dim=40):
    table = torch.randn(vocab, dim, device="cuda")
    indices = torch.randint(0, vocab, (nnz,), device="cuda")
    weights = torch.rand(nnz, device="cuda")
    offsets = torch.randint(0, nnz + 1, (bags + 1,), device="cuda").sort().values
    out = torch.empty(bags, dim, device="cuda")
    embedding_bag[(bags, triton.cdiv(dim, 32))](table, indices, weights, offsets, out, dim, BLOCK=32)
    return out


launch.assume = ["0 <= indices < vocab", "0 <= offsets <= nnz"]


def reference(table, indices, weights, offsets):
    place = torch.arange(indices.shape[0], device=table.device)
    member = (place >= offsets[:-1, None]) & (place < offsets[1:, None])
    return (member * weights) @ table[indices]


TRUTH = "verified"
