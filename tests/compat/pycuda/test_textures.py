"""Texture references: ``texture<…> name;`` in CUDA C, and all that PyCUDA does with them. What is
read is compared with the reference of this package's own textures."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c import cuda
from pycu2c.compat.pycuda.textures import cuda_arrays, reference_source, references
from pycu2c.cuda_driver import driver
from pycu2c.pycuda import gpuarray
from pycu2c.pycuda.compiler import SourceModule, compile
from pycu2c.pycuda.tools import dtype_to_ctype

RNG = np.random.default_rng(11)

# ---- the text ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("texture<float, 2, cudaReadModeElementType> a;", ("a",)),
        ("texture<float> a, b;\ntexture<int4, 3> c;", ("a", "b", "c")),
        ("static texture<float, 1> a;", ("a",)),
        ("typedef texture<float4, 2> T;\nT a;", ("a",)),
        ("using T = texture<float, 2>;\nT a, b;", ("a", "b")),
        ("namespace n { texture<float> a; }", ("a",)),
        ('extern "C" { texture<float> a; }', ("a",)),
        ("#define T texture<float>\n", ()),
        ("// texture<float> a;\n/* texture<float> b; */", ()),
        ('const char *t = "texture<float> a;";', ()),
        ("__device__ float f(texture<float> t) { return 0; }", ()),
        ("struct texture1 { int a; }; texture1 b;", ()),
    ],
)
def test_declarations_are_found(text: str, names: tuple[str, ...]) -> None:
    result = reference_source.rewrite_references(text)
    assert result.textures == names
    assert result.text.count("__constant__") == (text.count("a;") + text.count("a,")) * bool(
        names
    ) + ("c;" in text)
    assert result.text.count("\n") == text.count("\n")


def test_places_in_errors_are_the_users() -> None:
    text = "texture<float, 2> a;\n__global__ void k(float *x) {\n  x[0] = tex2D(a, 1, 2) + foo;\n}"
    with pytest.raises(drv.CompileError) as caught:
        compile(text)
    assert caught.value.line == 3
    assert "x[0] = tex2D(a, 1, 2) + foo;" in str(caught.value)


def test_declarations_in_files_that_are_included(tmp_path: Path) -> None:
    (tmp_path / "inner.h").write_text(
        "#pragma once\n#include <math.h>\ntexture<float, 2> picture;\n"
    )
    (tmp_path / "plain.h").write_text("#define TWICE(x) (2 * (x))\n")
    inside = '#include "inner.h"\n#include "plain.h"\n'
    function = "__device__ float at(float x) {\n  return TWICE(tex2D(picture, x, 1.5f));\n}\n"
    (tmp_path / "pictures.h").write_text(inside + function)
    text = """#include <pictures.h>
#include "inner.h"
__global__ void read(float *out) { out[threadIdx.x] = at(threadIdx.x + 0.5f); }
"""
    folders = {"include_dirs": [str(tmp_path)]}
    module = SourceModule(text, **folders)
    texture = module.get_texref("picture")
    drv.matrix_to_texref(np.float32([[1, 2], [3, 4]]), texture, order="C")
    out = np.zeros(2, np.float32)
    module.get_function("read")(drv.Out(out), block=(2, 1, 1), texrefs=[texture])
    assert out.tolist() == [6, 8]
    assert b"read" in compile(text, target="ptx", options=["-I", str(tmp_path)])
    (tmp_path / "pictures.h").write_text(inside + function.replace("1.5f", "foo"))
    with pytest.raises(drv.CompileError) as caught:
        compile(text, **folders)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "pictures.h"), 4)
    (tmp_path / "pictures.h").write_text(inside + function)
    with pytest.raises(drv.CompileError) as caught:
        compile(text.replace("0.5f", "foo"), **folders)
    assert caught.value.line == 3


# ---- PyCUDA's own cases ------------------------------------------------------------------------


def test_matrices() -> None:
    mod = SourceModule("""
    texture<float, 2, cudaReadModeElementType> mtx_tex;
    texture<float, 2, cudaReadModeElementType> mtx2_tex;

    __global__ void copy_texture(float *dest)
    {
      int row = threadIdx.x;
      int col = threadIdx.y;
      dest[row * blockDim.y + col] = tex2D(mtx_tex, row, col) + tex2D(mtx2_tex, row, col);
    }
    """)
    one, other = mod.get_texref("mtx_tex"), mod.get_texref("mtx2_tex")
    a, b = (RNG.random((3, 4)).astype(np.float32) for _ in range(2))
    drv.matrix_to_texref(a, one, order="F")
    drv.bind_array_to_texref(drv.matrix_to_array(b.T, "C"), other)
    dest = np.zeros_like(a)
    copy = mod.get_function("copy_texture")
    copy(drv.Out(dest), block=(3, 4, 1), texrefs=[one, other])
    assert (dest == a + b).all()
    one.set_array(drv.matrix_to_array(b, "F"))
    copy(drv.Out(dest), block=(3, 4, 1))
    assert (dest == 2 * b).all()


def test_elements_of_several_numbers() -> None:
    mod = SourceModule("""
    texture<float4, 2, cudaReadModeElementType> mtx_tex;
    texture<float4, 1, cudaReadModeElementType> row_tex;

    __global__ void copy_texture(float4 *dest)
    {
      dest[threadIdx.x * blockDim.y + threadIdx.y] = tex2D(mtx_tex, threadIdx.x, threadIdx.y);
    }
    __global__ void copy_row(float4 *dest) { dest[threadIdx.x] = tex1Dfetch(row_tex, threadIdx.x); }
    """)
    texture = mod.get_texref("mtx_tex")
    a = np.asarray(RNG.random((4, 5, 6)), np.float32, order="F")
    drv.bind_array_to_texref(drv.make_multichannel_2d_array(a, order="F"), texture)
    dest = np.zeros((5, 6, 4), np.float32)
    mod.get_function("copy_texture")(drv.Out(dest), block=(5, 6, 1), texrefs=[texture])
    assert (dest == a.transpose(1, 2, 0)).all()

    row = mod.get_texref("row_tex")
    memory = drv.to_device(dest)
    assert row.set_address(memory, dest.nbytes) == 0
    row.set_format(drv.array_format.FLOAT, 4)
    result = np.zeros_like(dest)
    mod.get_function("copy_row")(drv.Out(result), block=(30, 1, 1), texrefs=[row])
    assert (result == dest).all()


@pytest.mark.parametrize("dtype", [np.int16, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("layered", [False, True])
def test_elements_of_any_type(dtype: Any, layered: bool) -> None:
    name = dtype_to_ctype(dtype)
    element = dtype_to_ctype(dtype, with_fp_tex_hack=True)
    kind, fetch = ("2", "fp_tex2D(t, col, row)")
    if layered:
        kind, fetch = "cudaTextureType2DLayered", "fp_tex2DLayered(t, col, row, 1)"
    n = 16
    mod = SourceModule(f"""
    #include <pycuda-helpers.hpp>
    texture<{element}, {kind}, cudaReadModeElementType> t;

    __global__ void copy_texture({name} *dest)
    {{
      int row = blockIdx.x * blockDim.x + threadIdx.x, col = threadIdx.y;
      dest[row + col * blockDim.x * gridDim.x] = {fetch};
    }}
    """)
    a = np.asfortranarray((RNG.random((n, n)) * 100).astype(dtype))
    there = gpuarray.zeros(a.shape, dtype, order="F")
    texture, copy = mod.get_texref("t"), mod.get_function("copy_texture")
    copy.prepare("P", texrefs=[texture])
    texture.set_array(drv.np_to_array(a, "F", allowSurfaceBind=layered))
    copy.prepared_call((1, 1), (n, n, 1), there.gpudata)
    assert (there.get() == a.T).all()


def test_boxes() -> None:
    a = np.asarray(RNG.random((2, 4, 8)), np.float32, order="F")
    descr = drv.ArrayDescriptor3D()
    descr.width, descr.height, descr.depth = a.shape
    descr.format, descr.num_channels = drv.dtype_to_array_format(a.dtype), 1
    array = drv.Array(descr)
    copy = drv.Memcpy3D()
    copy.set_src_host(a)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = a.strides[1]
    copy.src_height = copy.height = 4
    copy.depth = 8
    copy()
    mod = SourceModule("""
    texture<float, 3, cudaReadModeElementType> t;
    __global__ void copy_texture(float *dest)
    {
      int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      dest[i] = tex3D(t, threadIdx.x, threadIdx.y, threadIdx.z);
    }
    """)
    texture = mod.get_texref("t")
    texture.set_array(array)
    dest = np.zeros(a.shape, np.float32, order="F")
    mod.get_function("copy_texture")(drv.Out(dest), block=a.shape, texrefs=[texture])
    assert (dest == a).all()
    raised = array.get_descriptor_3d()
    assert (raised.width, raised.height, raised.depth, raised.num_channels) == (2, 4, 8, 1)
    assert texture.get_array() is array
    array.free()
    with pytest.raises(drv.LogicError, match="was freed"):
        array.get_descriptor_3d() and array.handle


def test_arrays_that_are_bound() -> None:
    mod = SourceModule("""
    #include <pycuda-helpers.hpp>
    texture<float, 1> plain;
    texture<fp_tex_double, 1> doubles;
    __global__ void copy_texture(double *dest)
    {
      dest[threadIdx.x] = tex1Dfetch(plain, threadIdx.x) + fp_tex1Dfetch(doubles, threadIdx.x);
    }
    """)
    a, b = RNG.random(200).astype(np.float32), RNG.random(200)
    one, other = mod.get_texref("plain"), mod.get_texref("doubles")
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert a_gpu.bind_to_texref(one) == 0
    b_gpu.bind_to_texref_ext(other, allow_double_hack=True)
    dest = np.zeros(200)
    mod.get_function("copy_texture")(drv.Out(dest), block=(200, 1, 1), texrefs=[one, other])
    assert (dest == a + b).all()
    with pytest.raises(TypeError, match="array format"):
        b_gpu.bind_to_texref_ext(other)
    with pytest.raises(ValueError, match="one channel"):
        b_gpu.bind_to_texref_ext(other, channels=2, allow_double_hack=True)


def test_reads_out_of_linear_memory_return_zeros() -> None:
    mod = SourceModule("""
    texture<int, 1, cudaReadModeElementType> t;
    __global__ void read(int *dest) { dest[threadIdx.x] = tex1Dfetch(t, (int)threadIdx.x - 2); }
    """)
    texture, a = mod.get_texref("t"), np.arange(1, 5, dtype=np.int32)
    memory, dest = drv.to_device(a), np.full(8, 9, np.int32)
    texture.set_address(memory, a.nbytes)
    assert texture.get_address() == int(memory)
    mod.get_function("read")(drv.Out(dest), block=(8, 1, 1), texrefs=[texture])
    assert dest.tolist() == [0, 0, 1, 2, 3, 4, 0, 0]


def test_surfaces() -> None:
    mod = SourceModule("""
    surface<void, cudaSurfaceType2D> s;
    __global__ void add_one()
    {
      float old;
      surf2Dread(&old, s, threadIdx.x * 4, threadIdx.y);
      surf2Dwrite(old + 1.0f, s, threadIdx.x * 4, threadIdx.y);
    }
    """)
    a = RNG.random((5, 7)).astype(np.float32)
    array = drv.matrix_to_array(a, "C")
    surface = mod.get_surfref("s")
    with pytest.raises(drv.LogicError, match="bound to nothing"):
        surface.get_array()
    surface.set_array(array)
    assert surface.get_array() is array
    mod.get_function("add_one")(block=(7, 5, 1))
    back = np.zeros_like(a)
    copy = drv.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.width_in_bytes = copy.dst_pitch = a.strides[0]
    copy.height = 5
    drv.Context.synchronize()
    copy(aligned=True)
    assert (back == a + 1).all()


# ---- every way to read -------------------------------------------------------------------------

AXES = {1: "t, p[0]", 2: "t, p[0], p[1]", 3: "t, p[0], p[1], p[2]"}
READING = """
texture<float, {axes}, cudaReadModeElementType> t;
__global__ void read(float *out, const float *places, int n)
{{
  const float *p = places + 3 * threadIdx.x;
  if (threadIdx.x < n) out[threadIdx.x] = tex{axes}D({given});
}}
"""
MODULES = {axes: SourceModule(READING.format(axes=axes, given=AXES[axes])) for axes in AXES}
SHAPES = {1: (7,), 2: (5, 7), 3: (3, 5, 7)}


def array_of(a: np.ndarray) -> drv.Array:
    descr = drv.ArrayDescriptor3D()
    descr.width, descr.height, descr.depth = (*a.shape[::-1], 0, 0)[:3]
    descr.format = drv.dtype_to_array_format(a.dtype)
    made = drv.Array(descr)
    copy = drv.Memcpy3D()
    copy.set_src_host(a)
    copy.set_dst_array(made)
    copy.width_in_bytes = copy.src_pitch = a.shape[-1] * a.itemsize
    copy.src_height = copy.height = descr.height or 1
    copy.depth = descr.depth or 1
    copy()
    return made


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("mode", ["wrap", "clamp", "mirror", "border"])
@pytest.mark.parametrize("filtering", ["point", "linear"])
@pytest.mark.parametrize("normalized", [False, True])
def test_modes(axes: int, mode: str, filtering: Any, normalized: bool) -> None:
    a = RNG.random(SHAPES[axes]).astype(np.float32)
    module = MODULES[axes]
    texture = module.get_texref("t")
    texture.set_array(array_of(a))
    for axis in range(axes):
        texture.set_address_mode(axis, drv.address_mode[mode.upper()])
    texture.set_filter_mode(drv.filter_mode[filtering.upper()])
    texture.set_flags(drv.TRSF_NORMALIZED_COORDINATES if normalized else 0)
    most = np.ones(3) if normalized else np.array([*a.shape[::-1], 1, 1][:3])
    places = (RNG.random((64, 3)) * 3 - 1) * most
    places = places.astype(np.float32)
    out = np.zeros(64, np.float32)
    module.get_function("read")(
        drv.Out(out), drv.In(places), np.int32(64), block=(64, 1, 1), texrefs=[texture]
    )
    kept = mode if normalized or mode in ("clamp", "border") else "clamp"
    reference = cuda.texture(a, kept, filtering, normalized)
    expected = [reference.at(*map(float, place[:axes])) for place in places]
    least_bits = 1e-6 if driver.available() else 0  # in which order a GPU adds is its own affair
    np.testing.assert_allclose(out, expected, rtol=least_bits)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_integers_as_fractions(dtype: Any) -> None:
    name = dtype_to_ctype(dtype)
    mod = SourceModule(f"""
    texture<{name}, 2, cudaReadModeNormalizedFloat> t;
    texture<{name}, 2, cudaReadModeElementType> whole;
    __global__ void read(float *out, {name} *elements)
    {{
      int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
      out[i] = tex2D(t, x + 0.7f, y + 0.9f);
      elements[i] = tex2D(whole, x, y);
    }}
    """)
    info = np.iinfo(dtype)
    a = RNG.integers(info.min, info.max, (4, 6), dtype, endpoint=True)
    one, other = mod.get_texref("t"), mod.get_texref("whole")
    for texture in (one, other):
        texture.set_array(array_of(a))
    assert other.get_flags() == drv.TRSF_READ_AS_INTEGER
    assert one.get_flags() == 0
    one.set_filter_mode(drv.filter_mode.LINEAR)
    out, elements = np.zeros((4, 6), np.float32), np.zeros_like(a)
    mod.get_function("read")(drv.Out(out), drv.Out(elements), block=(6, 4, 1), texrefs=[one, other])
    assert (elements == a).all()
    reference = cuda.texture(a, "clamp", "linear", read_mode="normalized_float")
    for y, x in itertools.product(range(4), range(6)):
        assert out[y, x] == reference.at(
            np.float32(x) + np.float32(0.7), np.float32(y) + np.float32(0.9)
        )


# ---- what is told and refused ------------------------------------------------------------------


@pytest.fixture
def texture() -> drv.TextureReference:
    return SourceModule("texture<float2, 2> t; __global__ void k() {}").get_texref("t")


def test_settings_can_be_read(texture: drv.TextureReference) -> None:
    assert texture.get_format() == (drv.array_format.FLOAT, 2)
    texture.set_address_mode(1, drv.address_mode.BORDER)
    assert texture.get_address_mode(0) == drv.address_mode.CLAMP
    assert texture.get_address_mode(1) == drv.address_mode.BORDER
    texture.set_filter_mode(drv.filter_mode.LINEAR)
    assert texture.get_filter_mode() == drv.filter_mode.LINEAR
    texture.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    assert texture.get_flags() == drv.TRSF_NORMALIZED_COORDINATES
    texture.set_format(drv.array_format.SIGNED_INT8, 4)
    assert texture.get_format() == (drv.array_format.SIGNED_INT8, 4)
    for ask in (texture.get_array, texture.get_address):
        with pytest.raises(drv.LogicError, match="the texture is bound to no"):
            ask()


def test_an_unbound_texture_is_rejected() -> None:
    mod = SourceModule("texture<float> t; __global__ void k(float *x) { *x = tex1Dfetch(t, 0); }")
    with pytest.raises(drv.LogicError, match="t is bound to nothing"):
        mod.get_function("k")(np.intp(0), block=(1, 1, 1), texrefs=[mod.get_texref("t")])


def test_elements_of_another_type_than_declared_are_rejected(texture: drv.TextureReference) -> None:
    texture.set_array(array_of(np.zeros((4, 4), np.float32)))
    with pytest.raises(
        drv.LogicError, match="2 x float32, and is bound to elements of 1 x float32"
    ):
        texture.store_object()
    mod = SourceModule(
        "texture<char, 2, cudaReadModeNormalizedFloat> a; texture<int, 2> b; __global__ void k() {}"
    )
    fractions, whole = mod.get_texref("a"), mod.get_texref("b")
    fractions.set_array(array_of(np.zeros((4, 4), np.int8)))
    fractions.set_flags(drv.TRSF_READ_AS_INTEGER)
    with pytest.raises(drv.LogicError, match="leave out one of them"):
        fractions.store_object()
    whole.set_array(array_of(np.zeros((4, 4), np.int32)))
    whole.set_filter_mode(drv.filter_mode.LINEAR)
    with pytest.raises(drv.LogicError, match="not interpolated"):
        whole.store_object()


def test_arrays_that_cannot_be() -> None:
    with pytest.raises(drv.LogicError, match="order must be"):
        drv.matrix_to_array(np.zeros((2, 2), np.float32), "K")
    with pytest.raises(drv.LogicError, match="the channels 1, 2 or 4"):
        drv.make_multichannel_2d_array(np.zeros((2, 2, 3), np.float32), "C")
    with pytest.raises(drv.LogicError, match="2 or 3 axes"):
        drv.np_to_array(np.zeros(3, np.float32), "C")
    with pytest.raises(TypeError, match="cannot convert dtype int64"):
        drv.matrix_to_array(np.zeros((2, 2), np.int64), "C")
    copy = drv.Memcpy2D()
    with pytest.raises(drv.LogicError, match="set a source and a destination"):
        copy()
    array = drv.Array(drv.array_format.FLOAT, 4, 4)
    copy.set_src_host(np.zeros((4, 4), np.float32))
    copy.set_dst_array(array)
    copy.width_in_bytes, copy.height, copy.src_pitch = 16, 4, 16
    copy()
    one = drv.ArrayFormat.FLOAT
    assert drv.Array(one, 4).get_descriptor().format == one
    row = drv.Array(one, 4)
    drv.memcpy_htoa(row, 4, np.array([1, 2], np.float32))
    back = np.zeros(4, np.float32)
    drv.memcpy_atoh(back, row, 0)
    assert back.tolist() == [0, 1, 2, 0] or back[1:3].tolist() == [1, 2]
    memory = drv.to_device(back)
    drv.memcpy_dtoa(row, 0, memory, 16)
    drv.memcpy_atod(memory, row, 8, 8)
    drv.memcpy_atoa(row, 0, row, 8, 4)
    drv.memcpy_atoh(back, row, 0)
    assert back[:3].tolist() == [2, 1, 2]


def test_objects_are_finalized_after_the_globals_of_their_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the exit of the interpreter, globals of a module may be None."""
    array = drv.matrix_to_array(np.ones((4, 4), np.float32), "C")
    reference = drv.TextureReference()
    reference._object = (0, None)
    with monkeypatch.context() as exit_of_interpreter:
        exit_of_interpreter.setattr(cuda_arrays, "on_gpu", None)
        exit_of_interpreter.setattr(references, "on_gpu", None)
        array.__del__(finalizing=lambda: True)
        reference.__del__(finalizing=lambda: True)
    reference._object = None
