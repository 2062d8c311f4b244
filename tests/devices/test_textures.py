"""Textures and surfaces on every target, and recorded reads of an H100."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, float4, float32, kernel, types, uchar4
from pycu2c.base.dtypes import FLOAT32, TEXEL_COMPONENTS, VECTOR_OF, DType
from pycu2c.base.types import HANDLES, Scalar
from pycu2c.declarations.signatures import SignatureError, parse_signature, parse_type
from pycu2c.interpreter import texture_sampling
from pycu2c.kernels.specialization import generate_text
from pycu2c.runtime import texture_modes
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.paths import DATA

IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4)


def reads1(t, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = cuda.tex1D(t, x[i])


def reads2(t, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = cuda.tex2D(t, x[i], y[i])


def reads3(t, x, y, z, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = cuda.tex3D(t, x[i], y[i], z[i])


READS = {1: reads1, 2: reads2, 3: reads3}


def read(target: str, t: Any, *places: Any) -> Any:
    """What a kernel reads at some places."""
    arguments = [np.asarray(p, np.float32) for p in places]
    element = t.type.dtype.handle.element
    out = np.zeros(arguments[0].size, element.numpy)
    kernel(READS[len(arguments)], backend=target)[1, 256](t, *arguments, out)
    return out


def test_a_coordinate_is_column_and_row(target: str) -> None:
    t = cuda.texture(IMAGE)
    assert read(target, t, [0.5, 3.5, 1.99], [0.5, 2.5, 1.0]).tolist() == [0, 11, 5]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("clamp", [10, 10, 12, 12]), ("border", [7, 10, 12, 7])],
)
def test_outside_of_a_texture(target: str, mode: Any, expected: list[float]) -> None:
    t = cuda.texture(np.array([10, 11, 12], np.float32), mode, border=7)
    assert read(target, t, [-0.5, 0.5, 2.9, 3]).tolist() == expected


@pytest.mark.parametrize(
    ("mode", "expected"), [("wrap", [12, 13, 10, 11]), ("mirror", [11, 10, 13, 12])]
)
def test_a_texture_repeats(target: str, mode: Any, expected: list[float]) -> None:
    t = cuda.texture(np.array([10, 11, 12, 13], np.float32), mode, normalized=True)
    assert read(target, t, [-0.375, -0.125, 1.125, 1.375]).tolist() == expected


def test_a_mode_for_each_axis(target: str) -> None:
    t = cuda.texture(IMAGE, ("border", "clamp"), border=-1)
    assert read(target, t, [-1, 0, 4], [9, 9, 0]).tolist() == [-1, 8, -1]


def test_neighbours_are_mixed(target: str) -> None:
    t = cuda.texture(np.array([0, 256, 512], np.float32), filter_mode="linear")
    assert read(target, t, [0, 0.5, 1, 1.25, 1.501953125, 9]).tolist() == [0, 0, 128, 192, 257, 512]


def test_weights_have_8_bits(target: str) -> None:
    t = cuda.texture(np.array([0, 256], np.float32), filter_mode="linear")
    places = [0.5 + k / 512 for k in range(5)]
    assert read(target, t, places).tolist() == [0, 1, 1, 2, 2]


def test_integers_are_read_as_they_are(target: str) -> None:
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
        info = np.iinfo(kind)
        t = cuda.texture(np.array([info.min, info.max, 3], kind), "border", border=5)
        assert read(target, t, [0.5, 1.5, 2.5, 3.5]).tolist() == [info.min, info.max, 3, 5]


def test_integers_are_read_as_floats(target: str) -> None:
    t = cuda.texture(np.array([-128, -127, 0, 127], np.int8), read_mode="normalized_float")
    assert read(target, t, [0.5, 1.5, 2.5, 3.5]).tolist() == [-1, -1, 0, 1]
    t = cuda.texture(np.array([0, 255], np.uint8), "clamp", "linear", read_mode="normalized_float")
    assert np.abs(read(target, t, [0.5, 1, 1.5]) - [0, 0.5, 1]).max() <= 1 / 65535


def test_halves_are_read_as_floats(target: str) -> None:
    values = np.array([0.1, -65504, 6e-8, np.inf, 1.5], np.float16)
    t = cuda.texture(values)
    assert t.type == types.texture1d[float32]
    assert read(target, t, np.arange(5) + 0.5).tolist() == values.astype(np.float32).tolist()


def test_vectors(target: str) -> None:
    pixels = np.zeros((2, 2), uchar4.numpy)
    pixels["x"] = [[1, 2], [3, 4]]
    pixels["w"] = 9
    got = read(target, cuda.texture(pixels), [0, 1], [1, 1])
    assert got.tolist() == [(3, 0, 0, 9), (4, 0, 0, 9)]
    wide = np.zeros(2, float4.numpy)
    wide["y"] = [4, 8]
    assert read(target, cuda.texture(wide, filter_mode="linear"), [1])["y"].tolist() == [6]


def test_three_axes(target: str) -> None:
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    t = cuda.texture(cube, filter_mode="linear")
    assert read(target, t, [0.5, 3.5, 1], [0.5, 2.5, 1], [0.5, 1.5, 1]).tolist() == [0, 23, 8.5]


def test_a_fetch_by_index(target: str) -> None:
    @kernel(backend=target)
    def k(t, out):
        i = cuda.grid(1)
        out[i] = cuda.tex1Dfetch(t, i - 1)

    out = np.zeros(5, np.int32)
    k[1, 5](cuda.texture(np.array([7, 8, 9], np.int32), "border"), out)
    assert out.tolist() == [0, 7, 8, 9, 0]


def test_a_texture_is_passed_through_functions_and_tuples(target: str) -> None:
    @device
    def mean(t, x):
        return (cuda.tex1D(t, x) + cuda.tex1D(t, x + 1)) / 2

    @kernel(backend=target)
    def k(pair, out, second):
        i = cuda.grid(1)
        t = pair[1] if second else pair[0]
        out[i] = mean(t, i)

    a, b = (cuda.texture(np.array(v, np.float32)) for v in ([1, 3, 5], [10, 30, 50]))
    out = np.zeros(2, np.float32)
    k[1, 2]((a, b), out, True)
    assert out.tolist() == [20, 40]
    k[1, 2]((a, b), out, False)
    assert out.tolist() == [2, 4]


def test_a_texture_is_a_copy_until_it_is_updated(target: str) -> None:
    a = np.array([1, 2], np.float32)
    t = cuda.texture(a)
    a[:] = 5
    assert read(target, t, [0, 1]).tolist() == [1, 2]
    t.update(cuda.to_device(a))
    assert read(target, t, [0, 1]).tolist() == [5, 5]
    assert t.copy_to_host().tolist() == [5, 5]


def test_each_launch_reads_its_own_texture(target: str) -> None:
    @kernel(backend=target)
    def k(t, out):
        out[0] = cuda.tex1D(t, 0)

    out = np.zeros(1, np.float32)
    for number in range(30):
        k[1, 1](cuda.texture(np.array([number], np.float32)), out)
        assert out[0] == number


def test_a_graph_reads_what_a_texture_has_by_then() -> None:
    @kernel(backend="cpu")
    def k(t, out):
        out[0] += cuda.tex1D(t, 0)

    t, out = cuda.texture(np.array([1], np.float32)), cuda.to_device(np.zeros(1), device="cpu")
    g = cuda.Graph(device="cpu")
    with g.capture():
        k[1, 1](t, out)
        with pytest.raises(LaunchError, match="a graph is captured"):
            t.update(np.array([5], np.float32))
    g.launch()
    t.update(np.array([10], np.float32))
    g.launch()
    assert out.copy_to_host().tolist() == [11]


def test_surfaces(target: str) -> None:
    @kernel(backend=target)
    def shift(s):
        x, y = cuda.grid(2)
        v = cuda.surf2Dread(s, x, y)
        cuda.syncthreads()
        cuda.surf2Dwrite(v + 1, s, x + 1, y)

    s = cuda.surface((2, 3), np.int16)
    for _ in range(2):
        shift[1, (3, 2)](s)
    assert s.copy_to_host().tolist() == [[0, 1, 2], [0, 1, 2]]
    t = cuda.texture(s, "border")
    assert read(target, t, [-1, 1, 2], [0, 1, 1]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("axes", [1, 3])
def test_surfaces_of_other_axes(target: str, axes: int) -> None:
    @kernel(backend=target)
    def one(s):
        x = cuda.grid(1)
        cuda.surf1Dwrite(2 * cuda.surf1Dread(s, x), s, x)

    @kernel(backend=target)
    def three(s):
        x, y, z = cuda.grid(3)
        cuda.surf3Dwrite(2 * cuda.surf3Dread(s, x, y, z), s, x, y, z)

    a = np.arange(2**axes, dtype=np.float32).reshape((2,) * axes)
    s = cuda.surface(a)
    (one if axes == 1 else three)[1, (3,) * axes](s)
    assert s.copy_to_host().tolist() == (2 * a).tolist()


def test_surfaces_of_vectors(target: str) -> None:
    @kernel(backend=target)
    def swap(s):
        x = cuda.grid(1)
        v = cuda.surf1Dread(s, x)
        cuda.surf1Dwrite(float4(v.w, v.z, v.y, v.x), s, x)

    a = np.zeros(2, float4.numpy)
    a["x"], a["w"] = [1, 2], [3, 4]
    s = cuda.surface(a)
    swap[1, 2](s)
    assert s.copy_to_host().tolist() == [(3, 0, 0, 1), (4, 0, 0, 2)]


# ---- what an H100 has read ---------------------------------------------------------------------

RECORDED = np.load(DATA / "recorded" / "textures.npz")
CASES = sorted({name.rpartition(".")[0] for name in RECORDED})
# of the greatest number in the texture: see docs/guide/textures.md
BOUNDS = {"float32": 2**-23, "float16": 2**-10, "int8": 1.01 / 32767, "int16": 0.01 / 32767}


@pytest.mark.parametrize("case", CASES)
def test_recorded_reads_of_an_h100(target: str, case: str) -> None:
    """Half of the places are at random, others on the edges of elements, NaN, infinity."""
    number, _, mode, is_normalized, filter_mode = case.split(".")
    values = RECORDED[f"{case}.data"].view(number)[..., 0]
    t = cuda.texture(
        values,
        mode,
        filter_mode,
        normalized=is_normalized == "1",
        read_mode="normalized_float",
        border=0.375,
    )
    places = [RECORDED[f"{case}.c{axis}"] for axis in range(values.ndim)]
    got, expected = read(target, t, *places), RECORDED[f"{case}.out"]
    if filter_mode == "point":
        assert got.tolist() == expected.tolist()
        return
    apart = np.abs(got - expected)
    assert apart.max() <= BOUNDS[number]
    assert (apart == 0).mean() > 0.95


def random_texture(rng: np.random.Generator) -> Any:
    """Of any type and modes."""
    axes = int(rng.integers(1, 4))
    shape = tuple(rng.integers(1, 6, axes))
    number = str(rng.choice(["uint8", "int8", "uint16", "int16", "int32", "float16", "float32"]))
    values = rng.integers(0, 256, (*shape, np.dtype(number).itemsize), np.uint8)
    values = values.view(number)[..., 0]
    if values.dtype.kind == "f":
        values = np.where(np.isfinite(values), values, number == "float16").astype(number)
    normalized = bool(rng.integers(2))
    modes = ["clamp", "border", *(["wrap", "mirror"] if normalized else [])]
    addresses = [str(rng.choice(modes)) for _ in range(axes)]
    as_float = "element" if number == "int32" else "normalized_float"
    filters = ["point"] if number == "int32" else ["point", "linear", "linear"]
    chosen: Any = str(rng.choice(filters)), normalized, as_float
    return cuda.texture(values, addresses, *chosen, border=float(rng.integers(0, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_the_c_is_the_reference_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = random_texture(rng)
    scale = 1 if t.modes.is_normalized else 6
    places = rng.uniform(-2 * scale, 3 * scale, (t.ndim, 100)).astype(np.float32)
    got = read("cpu", t, *places)
    expected = np.array([t.at(*place) for place in places.T])
    assert expected.dtype == got.dtype
    assert got.tobytes() == expected.tobytes()


ELEMENTS = [VECTOR_OF[row, n] if n > 1 else row for row in TEXEL_COMPONENTS for n in (1, 2, 4)]


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_compilers_take_every_type_of_elements(element: DType) -> None:
    @kernel
    def k(t1, t2, t3, s1, s2, s3):
        i = cuda.grid(1)
        cuda.surf1Dwrite(cuda.tex1D(t1, i), s1, i)
        cuda.surf2Dwrite(cuda.tex2D(t2, i, 1), s2, i, 1)
        cuda.surf3Dwrite(cuda.tex3D(t3, i, 1, 2), s3, i, 1, 2)
        cuda.surf1Dwrite(cuda.surf1Dread(s1, i), s1, i)
        cuda.surf2Dwrite(cuda.surf2Dread(s2, i, i), s2, i, 1)
        cuda.surf3Dwrite(cuda.surf3Dread(s3, i, i, i), s3, i, 1, 2)
        cuda.surf1Dwrite(cuda.tex1Dfetch(t1, i), s1, i)

    names = [f"{access}{axes}d" for access in ("texture", "surface") for axes in (1, 2, 3)]
    signature = tuple(HANDLES[name][Scalar(element)] for name in names)
    built = k.launcher.compiler.build(parse_signature(signature))
    made = generate_text(built, "cuda")
    binary = nvrtc.compile(made.text, made.entry, "sm_90", cache=False)
    assert binary.data
    assert binary.log.strip("\0\n ") == ""
    assert check_warnings(generate_text(built, "cpu").text) == ""


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cuda.texture(IMAGE, "wrap"), "needs normalized=True"),
        (lambda: cuda.texture(IMAGE, "repeat"), "address_mode is one of"),
        (lambda: cuda.texture(IMAGE, ("clamp",)), "1 address modes are given for 2 axes"),
        (lambda: cuda.texture(IMAGE, filter_mode="cubic"), "filter_mode is one of"),
        (lambda: cuda.texture(IMAGE, read_mode="float"), "read_mode is one of"),
        (lambda: cuda.texture(np.arange(3), filter_mode="linear"), "cannot have elements of"),
        (
            lambda: cuda.texture(np.zeros(3, [("x", "u1"), ("y", "u1")])),
            r"a texture cannot have elements.*pass \.view\(cuda\.uchar2\.numpy\)",
        ),
        (lambda: cuda.texture(np.int32([1]), filter_mode="linear"), "'linear' returns floats"),
        (lambda: cuda.texture(np.int32([1]), read_mode="normalized_float"), "8 or 16 bits"),
        (lambda: cuda.texture(IMAGE, border=(1, 2)), "the border has 2 numbers"),
        (lambda: cuda.texture(np.zeros((1, 1, 1, 1), np.float32)), "1 to 3 axes"),
        (lambda: cuda.texture(np.zeros(0, np.float32)), "at least one element"),
        (lambda: cuda.surface(3, np.float16), "surfaces have no float16"),
        (lambda: cuda.texture(IMAGE).update(IMAGE.T), "make a new object"),
    ],
)
def test_objects_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("signature", "body", "message"),
    [
        ("texture2d[float32], float32[:]", "out[0] = cuda.tex1D(t, 0)", "call cuda.tex2D"),
        ("float32[:], float32[:]", "out[0] = cuda.tex1D(t, 0)", "takes a `texture1d`"),
        ("texture1d[float32], float32[:]", "out[0] = t[0]", "texture1d"),
        ("texture1d[float32], float32[:]", "out[0] = t + 1", "read it: cuda.tex1D"),
        ("texture1d[float32], float32[:]", "out[0] = t", "texture1d"),
        ("texture1d[float32], float32[:]", "out[0] = cuda.tex1D(t, 1j)", "complex"),
        ("texture1d[float32], float32[:]", "out[0] = cuda.surf1Dread(t, 0)", "`surface1d`"),
        ("surface1d[float32], float32[:]", "cuda.surf1Dwrite(t, t, 0)", "surface1d"),
        ("texture1d[float32], float32[:]", "print(t)", "print a value that is read from it"),
        ("surface1d[float32], float32[:]", "if t: out[0] = 1", "read it: cuda.surf1Dread"),
    ],
)
def test_programs_that_cannot_be(tmp_path: Path, signature: str, body: str, message: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"from pycu2c import cuda\ndef k(t, out):\n    {body}\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(CompileError, match=message.replace("(", r"\(")):
        kernel(names["k"]).inspect("c", signature)


def test_arguments_that_do_not_fit() -> None:
    @kernel("texture2d[float32], float32[:]", backend="cpu")
    def k(t, out):
        out[0] = cuda.tex2D(t, 0, 0)

    out = np.zeros(1, np.float32)
    with pytest.raises(LaunchError, match=r"declared `texture2d\[float32\]`.*cuda.texture"):
        k[1, 1](IMAGE, out)
    with pytest.raises(LaunchError, match=r"given a `texture2d\[uint8\]`"):
        k[1, 1](cuda.texture(IMAGE.astype(np.uint8)), out)
    with pytest.raises(LaunchError, match="declared `float32"):
        k[1, 1](cuda.texture(IMAGE), cuda.texture(IMAGE))
    k[1, 1](cuda.texture(IMAGE), out)


def test_types_are_written_as_they_are_shown() -> None:
    for kind in (types.texture2d[float32], types.surface3d[uchar4]):
        assert parse_type(str(kind)) == kind
    with pytest.raises(SignatureError, match="texture1d gives int8"):
        parse_type("texture1d[float64]")
    with pytest.raises(TypeError, match="no arrays of texture1d"):
        types.texture1d[float32][:]  # type: ignore[misc]
    with pytest.raises(TypeError, match="write Array"):
        types.Array[types.texture1d[float32]]  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"texture1d gives int8"):
        types.texture1d[types.float64]


def test_nan_and_far_coordinates_read_an_element() -> None:
    modes = texture_modes.checked_modes(("wrap",), "linear", True, "element", (0.0,))
    elements = np.array([[1.0], [2.0]], np.float32)
    row = FLOAT32
    reader = texture_sampling.sampler(elements, row, row, modes)
    assert {reader.at([x]) for x in (np.nan, np.inf, -1e30, 0.0)} == {np.float32(1.5)}
