# EQUAL
import math
import torch

EARTH_RADIUS_KM = 6371.0088


def left(lat_lon_1, lat_lon_2):
    """Great-circle distance by the haversine formula, degrees in."""
    p1, p2 = torch.deg2rad(lat_lon_1), torch.deg2rad(lat_lon_2)
    dlat, dlon = (p2 - p1).unbind(-1)
    a = torch.sin(dlat / 2) ** 2 + torch.cos(p1[..., 0]) * torch.cos(p2[..., 0]) * torch.sin(dlon / 2) ** 2
    return 2 * EARTH_RADIUS_KM * torch.asin(torch.sqrt(a))


def unit_vector(lat_lon):
    lat, lon = (lat_lon * (math.pi / 180.0)).unbind(-1)
    return torch.stack([lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()], dim=-1)


def right(lat_lon_1, lat_lon_2):
    """By the chord between the two points on the unit sphere."""
    chord = torch.linalg.vector_norm(unit_vector(lat_lon_1) - unit_vector(lat_lon_2), dim=-1)
    return EARTH_RADIUS_KM * 2.0 * torch.arcsin(chord / 2.0)


def inputs():
    scale = torch.tensor([60.0, 150.0])
    return (torch.rand(5, 2) * 2 - 1) * scale, (torch.rand(5, 2) * 2 - 1) * scale
