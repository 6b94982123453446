import torch
import triton
import triton.language as tl


@triton.jit
def merge_multimodal_kernel(text_ptr, mm_ptr, index_ptr, out_ptr, hidden, BLOCK: tl.constexpr):
    # index[t] is the row of the image embeddings that token t is replaced by, -1 for text
    t = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < hidden
    src = tl.load(index_ptr + t)
    is_mm = src >= 0
    text = tl.load(text_ptr + t * hidden + cols, mask=mask, other=0.0)
    image = tl.load(mm_ptr + src * hidden + cols, mask=mask, other=0.0)
    tl.store(out_ptr + t * hidden + cols, tl.where(is_mm, image, text), mask=mask)


def merge_multimodal_embeddings(inputs_embeds, mm_embeds, index):
    tokens, hidden = inputs_embeds.shape
    out = torch.empty_like(inputs_embeds)
    grid = (tokens, triton.cdiv(hidden, 128))
    merge_multimodal_kernel[grid](inputs_embeds, mm_embeds, index, out, hidden, BLOCK=128)
    return out


def launch(tokens=12, images=5, hidden=200):
    inputs_embeds = torch.randn(tokens, hidden, device="cuda")
    mm_embeds = torch.randn(images, hidden, device="cuda")
    index = torch.full((tokens,), -1, dtype=torch.int64, device="cuda")
    index[3 : 3 + images] = torch.arange(images, device="cuda")
    return merge_multimodal_embeddings(inputs_embeds, mm_embeds, index)


def reference(inputs_embeds, mm_embeds, index):
    picked = mm_embeds[index.clamp(min=0)]
    return torch.where((index >= 0)[:, None], picked, inputs_embeds)


# text tokens read row -1 of mm_embeds, before its first byte
TRUTH = "broken"
