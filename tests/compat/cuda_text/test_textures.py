"""Texture and surface objects in CUDA C, compared with what ``cuda.texture`` reads on the host."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda
from pycu2c.cuda_driver import driver
from pycu2c.runtime.texture_modes import ADDRESS_MODES
from support.cuda_text import BACKENDS, launch, output_of

RNG = np.random.default_rng(11)

AXES = {1: "t, p[0]", 2: "t, p[0], p[1]", 3: "t, p[0], p[1], p[2]"}
READING = """
extern "C" __global__ void k(float *out, cudaTextureObject_t t, const float *places)
{{
  const float *p = places + 3 * threadIdx.x;
  out[threadIdx.x] = tex{axes}D<float>({arguments});
}}
"""
SHAPES = {1: (7,), 2: (5, 7), 3: (3, 5, 7)}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize(
    ("mode", "normalized"),
    [(m, True) for m in ADDRESS_MODES] + [("clamp", False), ("border", False)],
)
@pytest.mark.parametrize("filtering", ["point", "linear"])
def test_modes(backend: str, axes: int, mode: Any, normalized: bool, filtering: Any) -> None:
    a = RNG.random(SHAPES[axes]).astype(np.float32)
    texture = cuda.texture(a, mode, filtering, normalized)
    most = np.ones(3) if normalized else np.array([*a.shape[::-1], 1, 1][:3])
    places = ((RNG.random((64, 3)) * 3 - 1) * most).astype(np.float32)
    text = READING.format(axes=axes, arguments=AXES[axes])
    out = output_of(text, backend, 64, np.float32, texture, places, block=64)
    expected = [texture.at(*map(float, place[:axes])) for place in places]
    least_bits = 1e-6 if driver.available() else 0  # GPUs may add in another order
    np.testing.assert_allclose(out, expected, rtol=least_bits)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_integers_as_fractions(backend: str, dtype: Any) -> None:
    name = {"u": "unsigned ", "i": "signed "}[np.dtype(dtype).kind]
    name += "char" if np.dtype(dtype).itemsize == 1 else "short"
    text = f"""
    extern "C" __global__ void k(
        float *out, {name} *elements, cudaTextureObject_t t, cudaTextureObject_t whole)
    {{
      int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
      out[i] = tex2D<float>(t, x + 0.7f, y + 0.9f);
      elements[i] = tex2D<{name}>(whole, x, y);
    }}
    """
    info = np.iinfo(dtype)
    a = RNG.integers(info.min, info.max, (4, 6), dtype, endpoint=True)
    fractions = cuda.texture(a, "clamp", "linear", read_mode="normalized_float")
    out, elements = np.zeros((4, 6), np.float32), np.zeros_like(a)
    launch(text, backend, out, elements, fractions, cuda.texture(a), block=(6, 4))
    assert (elements == a).all()
    for y, x in itertools.product(range(4), range(6)):
        place = np.float32(x) + np.float32(0.7), np.float32(y) + np.float32(0.9)
        assert out[y, x] == fractions.at(*place)


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_of_several_numbers(backend: str) -> None:
    text = """
    extern "C" __global__ void k(float4 *out, cudaTextureObject_t t)
    {
      float4 stored;
      tex2D(&stored, t, threadIdx.x, threadIdx.y);
      float4 v = tex2D<float4>(t, threadIdx.x, threadIdx.y);
      v.w += stored.w;
      out[threadIdx.y * blockDim.x + threadIdx.x] = v;
    }
    """
    a = RNG.random((5, 6, 4)).astype(np.float32)
    texture = cuda.texture(a.view(cuda.float4.numpy)[..., 0])
    out = output_of(text, backend, a.size, np.float32, texture, block=(6, 5)).reshape(a.shape)
    a[..., 3] *= 2
    assert (out == a).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_fetches_of_elements(backend: str) -> None:
    text = """
    extern "C" __global__ void k(int *out, cudaTextureObject_t t)
    { out[threadIdx.x] = tex1D<int>(t, threadIdx.x); }
    """
    texture = cuda.texture(np.arange(1, 5, dtype=np.int32))
    assert output_of(text, backend, 4, np.int32, texture, block=4).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("backend", BACKENDS)
def test_surfaces(backend: str) -> None:
    text = """
    extern "C" __global__ void k(cudaSurfaceObject_t s, float *outside)
    {
      float old;
      surf2Dread(&old, s, threadIdx.x * 4, threadIdx.y);
      surf2Dwrite(old + 1.0f, s, threadIdx.x * 4, threadIdx.y);
      surf2Dwrite(9.0f, s, -4, threadIdx.y, cudaBoundaryModeZero);
      outside[threadIdx.x] = surf2Dread<float>(s, 7 * 4, threadIdx.y, cudaBoundaryModeZero);
    }
    """
    a = RNG.random((5, 7)).astype(np.float32)
    surface, outside = cuda.surface(a), np.ones(7, np.float32)
    launch(text, backend, surface, outside, block=(7, 5))
    assert (surface.copy_to_host() == a + 1).all()
    assert not outside.any()


@pytest.mark.parametrize("call", ["tex2DLayered<float>(t, 0, 0, 1)", "tex2DLod<float>(t, 0, 0, 1)"])
def test_functions_that_the_cpu_does_not_have(call: str) -> None:
    text = f"__global__ void k(float *x, cudaTextureObject_t t) {{ *x = {call}; }}"
    texture = cuda.texture(np.zeros((2, 2), np.float32))
    with pytest.raises(CompileError, match="this texture function: not supported on the CPU"):
        output_of(text, "cpu", 1, np.float32, texture)


@pytest.mark.parametrize("text", ["texture<float, 2> t;", "surface<void, 2> s;"])
def test_references_name_the_objects_that_replace_them(text: str) -> None:
    with pytest.raises(CompileError, match="declare a parameter cudaTextureObject_t"):
        launch(f"{text}\n__global__ void k() {{}}", "cpu")
