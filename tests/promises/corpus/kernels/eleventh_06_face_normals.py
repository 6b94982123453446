import torch
import triton
import triton.language as tl


# face normals of a mesh without normalisation: n = (v1 - v0) x (v2 - v0), vertices gathered by faces
@triton.jit
def face_normals_kernel(verts_ptr, faces_ptr, out_ptr, n_faces, BLOCK: tl.constexpr):
    f = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = f < n_faces
    i0 = tl.load(faces_ptr + f * 3 + 0, mask=m, other=0)
    i1 = tl.load(faces_ptr + f * 3 + 1, mask=m, other=0)
    i2 = tl.load(faces_ptr + f * 3 + 2, mask=m, other=0)
    x0 = tl.load(verts_ptr + i0 * 3 + 0, mask=m, other=0.0)
    y0 = tl.load(verts_ptr + i0 * 3 + 1, mask=m, other=0.0)
    z0 = tl.load(verts_ptr + i0 * 3 + 2, mask=m, other=0.0)
    ax = tl.load(verts_ptr + i1 * 3 + 0, mask=m, other=0.0) - x0
    ay = tl.load(verts_ptr + i1 * 3 + 1, mask=m, other=0.0) - y0
    az = tl.load(verts_ptr + i1 * 3 + 2, mask=m, other=0.0) - z0
    bx = tl.load(verts_ptr + i2 * 3 + 0, mask=m, other=0.0) - x0
    by = tl.load(verts_ptr + i2 * 3 + 1, mask=m, other=0.0) - y0
    bz = tl.load(verts_ptr + i2 * 3 + 2, mask=m, other=0.0) - z0
    tl.store(out_ptr + f * 3 + 0, ay * bz - az * by, mask=m)
    tl.store(out_ptr + f * 3 + 1, az * bx - ax * bz, mask=m)
    tl.store(out_ptr + f * 3 + 2, ax * by - ay * bx, mask=m)


def launch(n_verts=60, n_faces=300):
    verts = torch.randn(n_verts, 3, device="cuda")
    faces = torch.randint(0, n_verts, (n_faces, 3), device="cuda")
    normals = torch.empty(n_faces, 3, device="cuda")
    face_normals_kernel[(triton.cdiv(n_faces, 128),)](verts, faces, normals, n_faces, BLOCK=128)
    return normals


def reference(verts, faces):
    v0, v1, v2 = verts[faces[:, 0]], verts[faces[:, 1]], verts[faces[:, 2]]
    return torch.linalg.cross(v1 - v0, v2 - v0)


TRUTH = "verified"
