"""Matrix NMS of SOLOv2, Gaussian kernel; masks come sorted by score."""
import torch


def matrix_nms(seg_masks, cate_labels, cate_scores, sigma=2.0):
    n_samples = len(cate_labels)
    sum_masks = seg_masks.sum((1, 2))
    flat = seg_masks.reshape(n_samples, -1)
    inter_matrix = torch.mm(flat, flat.transpose(1, 0))
    sum_masks_x = sum_masks.expand(n_samples, n_samples)
    iou_matrix = (inter_matrix / (sum_masks_x + sum_masks_x.transpose(1, 0) - inter_matrix)).triu(diagonal=1)
    # label_specific matrix
    cate_labels_x = cate_labels.expand(n_samples, n_samples)
    label_matrix = (cate_labels_x == cate_labels_x.transpose(1, 0)).to(flat.dtype).triu(diagonal=1)

    # IoU compensation
    compensate_iou, _ = (iou_matrix * label_matrix).max(0)
    compensate_iou = compensate_iou.expand(n_samples, n_samples).transpose(1, 0)

    # IoU decay
    decay_iou = iou_matrix * label_matrix
    decay_matrix = torch.exp(-1 * sigma * (decay_iou**2))
    compensate_matrix = torch.exp(-1 * sigma * (compensate_iou**2))
    decay_coefficient, _ = (decay_matrix / compensate_matrix).min(0)
    return cate_scores * decay_coefficient


def inputs():
    masks = (torch.rand(6, 5, 4) > 0.4).to(torch.get_default_dtype())
    masks[:, 0, 0] = 1
    labels = torch.tensor([0, 1, 0, 0, 1, 0])
    scores = torch.rand(6).sort(descending=True).values
    return masks, labels, scores
