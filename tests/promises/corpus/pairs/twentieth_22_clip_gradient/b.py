"""The same with the gradients by hand, as for memory-saving (chunked) contrastive training."""
import torch


@torch.no_grad()
def by_hand(image, text, log_scale):
    batch = image.shape[0]
    image_length = image.square().sum(1, keepdim=True).sqrt()
    text_length = text.square().sum(1, keepdim=True).sqrt()
    i, t = image / image_length, text / text_length
    scale = torch.exp(log_scale)
    similarity = i @ t.T
    logits = scale * similarity
    rows, columns = logits.logsumexp(1), logits.logsumexp(0)
    loss = (rows.sum() + columns.sum() - 2 * logits.trace()) / (2 * batch)
    slope = (logits - rows[:, None]).exp() + (logits - columns[None, :]).exp()
    slope = (slope - 2 * torch.eye(batch)) / (2 * batch)
    to_i, to_t = scale * (slope @ t), scale * (slope.T @ i)
    to_image = (to_i - i * (i * to_i).sum(1, keepdim=True)) / image_length
    to_text = (to_t - t * (t * to_t).sum(1, keepdim=True)) / text_length
    to_scale = (slope * logits).sum()
    return loss, to_image, to_text, to_scale
