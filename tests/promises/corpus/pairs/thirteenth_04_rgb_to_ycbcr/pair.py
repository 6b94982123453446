import torch
import torch.nn.functional as F


def left(image):
    r, g, b = image[..., 0, :, :], image[..., 1, :, :], image[..., 2, :, :]
    delta = 0.5
    y = 0.299 * r + 0.587 * g + 0.114 * b
    cb = (b - y) * 0.564 + delta
    cr = (r - y) * 0.713 + delta
    return torch.stack([y, cb, cr], -3)


def right(image):
    matrix = torch.tensor(
        [
            [0.299, 0.587, 0.114],
            [-0.168636, -0.331068, 0.499704],
            [0.499813, -0.418531, -0.081282],
        ],
        dtype=image.dtype,
    )
    offset = torch.tensor([0.0, 0.5, 0.5], dtype=image.dtype)
    return F.conv2d(image, matrix[:, :, None, None], offset)


inputs = (torch.rand(2, 3, 5, 6),)
