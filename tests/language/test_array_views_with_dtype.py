"""``array.view(dtype)``: NumPy's view with another dtype of the same or a larger size."""

from __future__ import annotations

import numpy as np
import pytest

import pycu2c
from pycu2c import CompileError, cuda, float32, kernel, uint8
from pycu2c.toolchain.nvrtc import nvrtc
from support.kernels_from_text import module_from
from support.launching import run

BYTES = np.random.default_rng(7).integers(0, 256, (6, 48)).astype(np.uint8)


def fields_of(dtype):
    @kernel
    def read(a, out):
        i = cuda.threadIdx.x
        whole = a[i].view(dtype)
        part = a[:, 8:24].view(dtype)
        if i < out.shape[0]:
            out[i, 0] = whole[2]
            out[i, 1] = whole[-1]
            out[i, 2] = part[i, 1]
            out[i, 3] = a.view(dtype)[::2, 1:].T[0, i // 2]
            out[i, 4] = part.shape[1] + 10 * part.size + 100 * part.strides[1]

    return read


@pytest.mark.parametrize("name", ["uint8", "int16", "uint32", "int64", "float64"])
@pytest.mark.parametrize("source", ["uint8", "int8"])
def test_wider_numbers_of_bytes(target: str, name: str, source: str) -> None:
    dtype = np.dtype(name)
    data = (BYTES & 0x3F).view(source)  # no NaN
    out = np.zeros((6, 5), dtype)
    _, result = run(fields_of(dtype), (1, 6), [data, out], target)
    expected = np.zeros((6, 5), dtype)
    for i in range(6):
        whole, part = data[i].view(dtype), data[:, 8:24].view(dtype)
        expected[i] = (
            *(whole[2], whole[-1], part[i, 1], data.view(dtype)[::2, 1:].T[0, i // 2]),
            np.array(part.shape[1] + 10 * part.size + 100 * part.strides[1]).astype(dtype),
        )
    np.testing.assert_array_equal(result, expected)


@kernel
def stores(words, floats, halves):
    i = cuda.threadIdx.x
    doubles = words[4 * i : 4 * i + 4].view(np.float64)
    doubles[0] = i + 0.5
    doubles[1] += 2
    bits = floats.view(np.int32)
    bits[i] |= -(1 << 31)
    pair = halves.view(np.uint32)
    pair[-1 - i] = 0x3C00_4000 + i


def test_stores(target: str) -> None:
    words, floats = np.zeros(16, np.uint32), np.arange(4, dtype=np.float32)
    halves = np.zeros(8, np.float16)
    words_out, floats_out, halves_out = run(stores, (1, 4), [words, floats, halves], target)
    assert words_out.view(np.float64).tolist() == [0.5, 2, 1.5, 2, 2.5, 2, 3.5, 2]
    assert floats_out.tolist() == [0, -1, -2, -3]
    assert np.signbit(floats_out[0])
    assert halves_out.view(np.uint32).tolist() == [0x3C00_4000 + i for i in (3, 2, 1, 0)]


@kernel
def shared_and_local(a, out):
    i = cuda.threadIdx.x
    shared = cuda.shared.array(64, uint8)
    local = cuda.local.array((2, 4), np.uint16)
    for k in range(8):
        shared[8 * i + k] = a[i, k]
        local[k // 4, k % 4] = a[i, k]
    cuda.syncthreads()
    values = shared.view(float32)
    total = values[(2 * i + 2) % 12]
    for value in shared[8 * i : 8 * i + 8].view(np.uint32):
        total += value % 1000
    out[i] = total + local.view(np.uint64)[1, 0] % 4096


def test_shared_and_local_memory(target: str) -> None:
    data = BYTES & 0x3F
    _, result = run(shared_and_local, (1, 6), [data, np.zeros(6, np.float32)], target)
    shared = np.zeros(64, np.uint8)
    shared[:48] = data[:, :8].ravel()
    for i in range(6):
        total = shared.view(np.float32)[(2 * i + 2) % 12]
        for value in shared[8 * i : 8 * i + 8].view(np.uint32):
            total += np.float32(value % 1000)
        local = data[i, :8].astype(np.uint16).view(np.uint64)
        expected = total + local[1] % 4096
        assert result[i] == np.float32(expected)


POINT = np.dtype([("n", "u4"), ("xs", "u2", 4)])


@kernel
def of_fields(points, strided, out):
    i = cuda.threadIdx.x
    record = points[i]
    out[i] = record.xs.view(np.float32)[1] + points["n"].view(np.float32)[i]
    out[i] += strided.view(np.int32)[i]


def test_fields_and_strided_arrays(target: str) -> None:
    points = np.zeros(4, POINT)
    points["xs"] = np.arange(8, dtype=np.float32).view(np.uint16).reshape(4, 4)
    points["n"] = np.arange(4, dtype=np.float32).view(np.uint32) * 1
    strided = np.arange(8, dtype=np.uint32)[::2]
    *_, result = run(of_fields, (1, 4), [points, strided, np.zeros(4)], target)
    assert result.tolist() == [2 * i + 1 + i + 2 * i for i in range(4)]


@kernel
def one_index_twice(a, counts, out):
    values = a.view(np.uint32)
    out[0] = values[cuda.atomic.add(counts, 0, 1)]
    values[cuda.atomic.add(counts, 0, 1)] = 5


def test_an_index_is_evaluated_once(target: str) -> None:
    data = np.arange(16, dtype=np.uint8)
    a, counts, out = run(
        one_index_twice, (1, 1), [data, np.zeros(1, np.int32), np.zeros(1, np.uint32)], target
    )
    assert counts[0] == 2
    assert out[0] == data.view(np.uint32)[0]
    assert a.view(np.uint32).tolist() == [0x03020100, 5, 0x0B0A0908, 0x0F0E0D0C]


def test_a_length_that_is_no_multiple(target: str) -> None:
    @kernel(check=True, backend=target)
    def viewed(a, n, out):
        out[0] = a[:n].view(np.int32)[0]

    out = np.zeros(1, np.int32)
    viewed[1, 1](BYTES[0], 8, out)
    assert out[0] == BYTES[0, :4].view(np.int32)[0]
    with pytest.raises(ValueError, match="its size must be a divisor of the total size"):
        viewed[1, 1](BYTES[0], 7, out)


ERRORS = {
    "a[:, ::2].view(np.int32)[0, 0]": "may have gaps",
    "a.T.view(np.int32)[0, 0]": "may have gaps",
    "f.view(np.uint8)[0]": "of the same or of a larger size",
    "a.view(np.complex64)[0, 0]": "of the same or of a larger size",
    "cuda.atomic.add(f.view(np.int32), 0, 1)": "takes an array with the dtype of its memory",
    "first(f.view(np.int32))": "functions take arrays with the dtype of their memory",
    "a[0].view(np.int32).reshape(2, 6)[0, 0]": "may not be contiguous",
    "cuda.local.array(7, np.uint8).view(np.int32)[0]": "multiple of 4",
}


@pycu2c.device
def first(a):
    return a[0]


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str, tmp_path) -> None:
    head = "import numpy as np\nfrom pycu2c import cuda, kernel\n"
    head += "from language.test_array_views_with_dtype import first\n\n@kernel\n"
    made = module_from(f"{head}def k(a, f, out):\n    out[0] = {text}\n", tmp_path).k
    with pytest.raises(CompileError) as caught:
        made.inspect("c", "void(uint8[:, ::1], float32[::1], int32[::1])")
    assert ERRORS[text] in str(caught.value)


@pytest.mark.parametrize("made", [stores, shared_and_local, of_fields], ids=lambda k: k.name)
def test_nvrtc_compiles_it(made) -> None:
    types = {
        "stores": "void(uint32[::1], float32[::1], float16[::1])",
        "shared_and_local": "void(uint8[:, ::1], float32[::1])",
        "of_fields": (pycu2c.from_dtype(POINT)[::1], pycu2c.uint32[:], pycu2c.float64[::1]),
    }
    text = made.inspect("cuda", types[made.name])
    assert nvrtc.compile(text, made.name, "sm_90", cache=False).data


# ---- vectors -------------------------------------------------------------------------------------


@kernel
def of_vectors(a, rows, out):
    i = cuda.threadIdx.x
    vectors, pairs = a[4:].view(cuda.float4), rows[i].view(cuda.float2)
    shared = cuda.shared.array(16, float32, alignment=16)
    local = cuda.local.array(4, float32)
    shared.view(cuda.float4)[i] = vectors[i]
    local.view(cuda.float4)[0] = vectors[-1]
    cuda.syncthreads()
    v = shared.view(cuda.float4)[i ^ 1]
    v.w = local[3]
    written = out.view(cuda.float4)
    written[i] = v
    written[i].y = pairs[1].y + len(pairs)
    for u in rows.view(cuda.float2)[i, 1:]:
        written[i].z += u.x


def vectors_of(a, rows):
    vectors = a[4:].reshape(-1, 4)
    out = vectors[[1, 0, 3, 2]].copy()
    out[:, 3] = vectors[-1, 3]
    out[:, 1] = rows[:, 3] + 3
    out[:, 2] += rows[:, 2] + rows[:, 4]
    return out.ravel()


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_vectors_of_numbers(target: str, offset: int) -> None:
    """The arrays may begin at any multiple of four bytes."""
    base = np.random.default_rng(2).random(64).astype(np.float32)
    a, out = base[offset : offset + 20], np.zeros(32, np.float32)[offset : offset + 16]
    rows = base[20 + offset : 44 + offset].reshape(4, 6)
    *_, result = run(of_vectors, (1, 4), [a, rows, out], target)
    np.testing.assert_allclose(result, vectors_of(a, rows), rtol=1e-6)


def test_vectors_of_bytes(target: str) -> None:
    @kernel
    def second(a, out):
        out[0] = a.view(cuda.int2)[1].y

    *_, out = run(second, (1, 1), [np.arange(16, dtype=np.uint8), np.zeros(1, np.int32)], target)
    assert out[0] == np.arange(16, dtype=np.uint8).view(np.int32)[3]


def test_cuda_accesses_vectors_at_once() -> None:
    text = of_vectors.inspect("cuda", "float32[::1], float32[:, ::1], float32[::1]")
    assert "load_vector_float4(&a[" in text
    assert "store_shared_vector_float4(&shared[" in text
    assert "store_vector_float4(&out[" in text
    assert "_vector_float4(&local" not in text  # the array is in registers
    for arch in ("sm_75", "sm_90"):
        nvrtc.compile(text, "of_vectors", arch, kind="cubin")


def test_aligned_shared_arrays_need_no_test() -> None:
    sass = of_vectors.inspect("ptx", "float32[::1], float32[:, ::1], float32[::1]")
    assert "st.shared.v4.f32" in sass
    assert "st.shared.f32" not in sass


@pytest.mark.parametrize("kind", ["float32[:]", "float64[::1]"])
def test_arrays_that_are_no_vectors(kind: str) -> None:
    @kernel
    def first(a, out):
        out[0] = a.view(cuda.float2)[0].x

    with pytest.raises(CompileError, match=r"may have gaps|cannot be viewed as `float2`"):
        first.inspect("ir", f"{kind}, float32[::1]")
