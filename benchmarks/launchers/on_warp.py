"""Launch methods of Warp on CUDA device 0: a launch, and a recorded launch."""

# no "from __future__ import annotations": Warp reads the types of parameters as objects
import warp as wp

from launchers import COUNTS, NUMBERS, THREADS, LaunchMethod, arrays, named

wp.config.quiet = True
wp.config.enable_backward = False
wp.init()

f32, i32, Line = wp.float32, wp.int32, wp.array(dtype=wp.float32)
DEVICE = "cuda:0"


@wp.kernel
def three(out: Line, x: Line, a: f32):
    i = wp.tid()
    out[i] = a * x[i]


@wp.kernel
def five(out: Line, x: Line, y: Line, a: f32, n: i32):
    i = wp.tid()
    if i < n:
        out[i] = a * x[i] + y[i]


@wp.kernel
def twelve(
    out: Line,
    p: Line,
    q: Line,
    r: Line,
    s: Line,
    t: Line,
    u: Line,
    a: f32,
    b: f32,
    c: f32,
    n: i32,
    m: i32,
):
    i = wp.tid()
    if i < n:
        out[i] = a * (p[i] + q[i]) + b * (r[i] + s[i]) + c * (t[i] + u[i]) + float(m)


KERNELS = {3: three, 5: five, 12: twelve}


def methods() -> list[LaunchMethod]:
    return [method for count in COUNTS for method in (launched(count), recorded(count))]


def given(count: int) -> list[object]:
    return [wp.array(a, device=DEVICE) for a in arrays(count)]


def launched(count: int) -> LaunchMethod:
    on_device = given(count)
    text, names = named([*on_device, *(n.item() for n in NUMBERS[count])])
    how = f"f(k, {THREADS}, inputs=[{text}], device=d)"
    names |= {"f": wp.launch, "k": KERNELS[count], "d": wp.get_device(DEVICE)}
    return LaunchMethod("Warp: launch", count, how, names, on_device[0].numpy, wp.synchronize)


def recorded(count: int) -> LaunchMethod:
    """Return a recorded launch, whose arguments are already packed."""
    on_device = given(count)
    inputs = [*on_device, *(n.item() for n in NUMBERS[count])]
    command = wp.launch(KERNELS[count], THREADS, inputs=inputs, device=DEVICE, record_cmd=True)
    names = {"c": command}
    return LaunchMethod(
        "Warp: recorded", count, "c.launch()", names, on_device[0].numpy, wp.synchronize
    )
