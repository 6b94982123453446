import torch
import triton
import triton.language as tl


@triton.heuristics({
    "DO_SOFTCAPPING": lambda args: bool(args["SOFTCAP"] != 0.0),
})
@triton.jit
def _chunked_cross_entropy_forward(
    logits_ptr, logits_row_stride,
    loss_ptr, logsumexp_ptr, labels_ptr,
    VOCAB_SIZE,
    N_CHUNKS,
    SOFTCAP,
    BLOCK_SIZE: tl.constexpr,
    DO_SOFTCAPPING: tl.constexpr,
):
    """
    256K vocab divided in 4 chunks

    |-65536-| |-65536-| |-65536-| |-65536-|

    logsumexp of the row is the logsumexp of the chunks' logsumexps
    """
    row_idx = tl.program_id(0)
    chunk_idx = tl.program_id(1)
    logits_ptr += row_idx * logits_row_stride
    loss_ptr += row_idx
    logsumexp_ptr += row_idx * N_CHUNKS + chunk_idx
    labels_ptr += row_idx

    col_offsets = chunk_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < VOCAB_SIZE

    label_idx = tl.load(labels_ptr).to(tl.int32)
    logits = tl.load(logits_ptr + col_offsets, mask=mask, other=-float("inf")).to(tl.float32)
    if DO_SOFTCAPPING:
        logits = SOFTCAP * (2 * tl.sigmoid(2 * logits / SOFTCAP) - 1)
        logits = tl.where(mask, logits, -float("inf"))

    c = tl.max(logits, 0)
    logsumexp = c + tl.log(tl.sum(tl.exp(logits - c), 0))

    if chunk_idx == 0:
        # logsumexp(chunked_logsumexp) - x, the first part is added by the host
        if label_idx != -100:
            x = tl.load(logits_ptr + label_idx).to(tl.float32)
            if DO_SOFTCAPPING:
                x = SOFTCAP * (2 * tl.sigmoid(2 * x / SOFTCAP) - 1)
            loss = -1.0 * x
        else:
            loss = 0.0
        tl.store(loss_ptr, loss)
    tl.store(logsumexp_ptr, logsumexp)


def fast_cross_entropy(logits, labels, softcap):
    n_rows, vocab_size = logits.shape
    BLOCK = 64
    n_chunks = triton.cdiv(vocab_size, BLOCK)
    losses = torch.empty(n_rows, dtype=torch.float32)
    logsumexp = torch.empty((n_rows, n_chunks), dtype=torch.float32)
    _chunked_cross_entropy_forward[(n_rows, n_chunks)](
        logits, logits.stride(0), losses, logsumexp, labels,
        VOCAB_SIZE=vocab_size, N_CHUNKS=n_chunks, SOFTCAP=softcap, BLOCK_SIZE=BLOCK)
    logsumexp = torch.logsumexp(logsumexp, dim=1)
    losses += logsumexp
    losses.masked_fill_(labels == -100, 0)
    return losses, logsumexp


def launch(n_rows=6, vocab=190):
    logits = torch.randn(n_rows, vocab)
    labels = torch.randint(0, vocab, (n_rows,))
    return fast_cross_entropy(logits, labels, 30.0)


def reference(logits, labels):
    z = 30.0 * torch.tanh(logits / 30.0)
    lse = z.logsumexp(-1)
    at = z.gather(1, labels.clamp(min=0)[:, None])[:, 0]
    return torch.where(labels == -100, 0.0, lse - at), lse


TRUTH = "verified"
