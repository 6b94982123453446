"""The same without rolling: every window gathers its tokens by index, and results are put back by the inverse index."""
import torch
from a import DIM, HEADS, HEIGHT, SHIFT, WIDTH, WINDOW, ShiftedWindow
from torch import nn
from torch.nn import functional as F


def tokens_of_windows():
    """Flat pixel of each place in each window [windows, WINDOW²], and the place's coordinates in the rolled picture."""
    rows = torch.arange(HEIGHT).view(-1, 1, WINDOW, 1)
    columns = torch.arange(WIDTH).view(1, -1, 1, WINDOW)
    pixel = (rows + SHIFT) % HEIGHT * WIDTH + (columns + SHIFT) % WIDTH
    rows, columns = torch.broadcast_tensors(rows, columns)
    return pixel.flatten(2).flatten(0, 1), rows.flatten(2).flatten(0, 1), columns.flatten(2).flatten(0, 1)


class GatheredWindow(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = ShiftedWindow()
        weights, biases = theirs.qkv.weight.detach().chunk(3), theirs.qkv.bias.detach().chunk(3)
        self.query, self.key, self.value = (nn.Linear(DIM, DIM) for _ in range(3))
        for linear, weight, bias in zip((self.query, self.key, self.value), weights, biases, strict=True):
            linear.weight.data, linear.bias.data = weight.clone(), bias.clone()
        self.out = theirs.proj
        side = 2 * WINDOW - 1
        table = theirs.relative_position_bias_table.detach().view(side, side, HEADS)
        self.bias_table = nn.Parameter(table.permute(2, 0, 1).contiguous())
        pixel, rows, columns = tokens_of_windows()
        self.register_buffer("pixel", pixel)
        self.register_buffer("back", pixel.flatten().argsort())
        # pixels that were carried round an edge lie in a region of their own
        region = 2 * (rows >= HEIGHT - SHIFT) + (columns >= WIDTH - SHIFT)
        self.register_buffer("apart", region[:, :, None] != region[:, None, :])

    def heads(self, x):
        return x.unflatten(-1, (HEADS, DIM // HEADS)).transpose(-2, -3)

    def forward(self, x):
        tokens = x.flatten(1, 2)
        place = torch.arange(WINDOW * WINDOW)
        down, across = place // WINDOW, place % WINDOW
        bias = self.bias_table[
            :, down[:, None] - down + WINDOW - 1, across[:, None] - across + WINDOW - 1
        ]
        mask = bias + torch.where(self.apart, -100.0, 0.0)[:, None]
        q, k, v = (self.heads(p(tokens)[:, self.pixel]) for p in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = mixed.transpose(-2, -3).flatten(-2)
        return self.out(mixed.flatten(1, 2)[:, self.back]).view(x.shape)
