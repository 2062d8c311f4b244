"""Schedule the kernels of a fused function.

There is a reduction kernel for each reduction, which includes the elementwise operations before it.
There is one elementwise kernel for all results of one shape. The steps of a call read and write a
list of arrays; its indices are called slots. The first slots are the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy import operands
from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.fusion.graph import GraphInput, Node, ReduceNode, ViewNode, dtype_of
from pycu2c.compat.cupy.fusion.kernel_source import ElementText, Leaf, element_text
from pycu2c.compat.cupy.fusion.tracer import TracedArray
from pycu2c.compat.cupy.operands import number_dtype
from pycu2c.compat.cupy.parameter_declarations import c_name
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel
from pycu2c.runtime.arguments.strides import Shape

Step: TypeAlias = Callable[[list[Any]], None]
KernelCache: TypeAlias = dict[tuple[object, ...], Any]  # kernels by text, types and constants


@dataclass(frozen=True, slots=True)
class FusionTarget:
    """An array that a call writes: an argument, or a new array in a slot."""

    traced: TracedArray
    node: Node
    argument: int | None


class Scheduler:
    """Builds the steps of a traced function."""

    def __init__(self, name: str, parameters: Sequence[str], kernels: KernelCache) -> None:
        self._name, self._parameters, self._kernels = name, parameters, kernels
        self.count = len(parameters)  # number of slots
        self._slots: dict[int, int] = {}
        self._nodes: list[Node] = []  # kept alive, because their ids are keys
        self._viewed_argument: dict[int, int] = {}  # slot of a view -> slot of its array
        self.steps: list[Step] = []

    # ---- outputs ----

    def fill(self, targets: Sequence[FusionTarget]) -> dict[int, int]:
        """Add the steps that write all targets; return slots by the id of the traced array."""
        groups: dict[object, list[FusionTarget]] = {}
        for target in targets:
            key = (target.node.shape, graph.is_number(target.node))
            groups.setdefault(key, []).append(target)
        texts = [
            (group, element_text(self._operation_name, [t.node for t in group], self._parameters))
            for group in groups.values()
        ]
        planned = [(group, text, [self.slot(n) for n in text.leaves]) for group, text in texts]
        planned.sort(key=lambda r: any(t.argument is not None for t in r[0]))
        new_slots: dict[int, int] = {}
        for k, (group, text, slots) in enumerate(planned):
            written = {t.argument for t in group if t.argument is not None}
            later_slots = [s for _, _, others in planned[k + 1 :] for s in others]
            self._save_arguments(written, later_slots, planned[k + 1 :])
            new_slots |= self._fill_group(group, text, slots)
        return new_slots

    def _save_arguments(
        self, written: set[int], later_slots: list[int], groups: Sequence[Any]
    ) -> None:
        """Copy arguments that the current group writes and later groups read."""
        for slot in dict.fromkeys(later_slots):
            if self._viewed_argument.get(slot, slot) not in written:
                continue
            copy_slot = self._new_slot()
            self.steps.append(_copy_step(slot, copy_slot))
            for _, _, slots in groups:
                slots[:] = [copy_slot if s == slot else s for s in slots]

    def _fill_group(
        self, group: list[FusionTarget], text: ElementText, slots: list[int]
    ) -> dict[int, int]:
        """Add the step that writes targets of one shape; return their slots as ``fill`` does."""
        targets = [self._new_slot() if t.argument is None else t.argument for t in group]
        dtypes = [np.result_type(t.node.like) for t in group]
        if all(map(graph.is_number, (t.node for t in group))):
            step = _scalar_step(text.scalar_function(self._operation_name), slots, targets)
        elif all(t.argument is None for t in group):
            step = _call_step(self._elementwise_kernel(text, dtypes), slots, targets)
        else:
            new_dtypes = [None if t.argument is not None else d for t, d in zip(group, dtypes)]
            kernel = self._elementwise_kernel(text, dtypes)
            step = _fill_step(kernel, slots, targets, new_dtypes, group[0].node.shape)
        self.steps.append(step)
        return {id(t.traced): slot for t, slot in zip(group, targets)}

    def _elementwise_kernel(self, text: ElementText, dtypes: Sequence[np.dtype[Any]]) -> Any:
        types = tuple(map(_parameter_type, text.leaves))
        key = (text.text, types, tuple(dtypes), _constants_key(text))
        kernel = self._kernels.get(key)
        if kernel is None:
            inputs = ", ".join(f"{t} {n}" for t, n in zip(types, text.names))
            outputs = ", ".join(f"{number_dtype(d).name} out{k}" for k, d in enumerate(dtypes))
            function = text.function(self._operation_name)
            kernel = ElementwiseKernel(inputs, outputs, function, self._name, return_tuple=True)
            self._kernels[key] = kernel
        return kernel

    # ---- slots ----

    @property
    def _operation_name(self) -> str:
        return f"{self._name}_operation"

    def _new_slot(self) -> int:
        self.count += 1
        return self.count - 1

    def slot(self, node: Node) -> int:
        """Return the slot of a node; at the first use, add the steps that compute it."""
        if isinstance(node, GraphInput):
            return node.position
        slot = self._slots.get(id(node))
        if slot is None:
            slot = self._slots[id(node)] = self._add_steps(node)
            self._nodes.append(node)
        return slot

    def _add_steps(self, node: Node) -> int:
        """Add the steps that compute a node; return its slot."""
        match node:
            case ReduceNode():
                return self._add_reduction(node)
            case ViewNode(value, index):
                base, view = self.slot(value), self._new_slot()
                self.steps.append(_view_step(base, index, view))
                self._viewed_argument[view] = self._viewed_argument.get(base, base)
                return view
            case _:
                text = element_text(self._operation_name, [node], self._parameters)
                slots, target = [self.slot(n) for n in text.leaves], self._new_slot()
                kernel = self._elementwise_kernel(text, [np.result_type(node.like)])
                self.steps.append(_call_step(kernel, slots, [target]))
                return target

    def _add_reduction(self, node: ReduceNode) -> int:
        text = element_text(self._operation_name, [node.value], self._parameters)
        slots, target = [self.slot(n) for n in text.leaves], self._new_slot()
        types, reduction = tuple(map(_parameter_type, text.leaves)), node.reduction
        key = (text.text, types, reduction, _constants_key(text))
        kernel = self._kernels.get(key)
        if kernel is None:
            inputs = ", ".join(f"{t} {n}" for t, n in zip(types, text.names))
            dtype = number_dtype(dtype_of(node) or np.result_type(node.like))
            kernel = self._kernels[key] = ReductionKernel(
                inputs,
                f"{dtype.name} out",
                text.function(self._operation_name),
                reduction.combine,
                "out = a",
                reduction.identity,
                self._name,
                c_name(dtype),
            )
        self.steps.append(_reduce_step(kernel, slots, target, node))
        return target


def _parameter_type(leaf: Leaf) -> str:
    return number_dtype(np.result_type(leaf.like)).name


def _constants_key(text: ElementText) -> tuple[object, ...]:
    return tuple((type(c), repr(c)) for c in text.constants)


# ---- steps -------------------------------------------------------------------------------------


def _call_step(kernel: Any, slots: Sequence[int], targets: Sequence[int]) -> Step:
    def step(arrays: list[Any]) -> None:
        results = kernel(*(arrays[s] for s in slots))
        for target, array in zip(targets, results):
            arrays[target] = array

    return step


def _fill_step(
    kernel: Any,
    slots: Sequence[int],
    targets: Sequence[int],
    new_dtypes: Sequence[np.dtype[Any] | None],
    shape: Shape,
) -> Step:
    def step(arrays: list[Any]) -> None:
        like = next(a for a in arrays if getattr(a, "shape", None) is not None)
        described = operands.operand(like, "an argument")
        for target, dtype in zip(targets, new_dtypes):
            if dtype is not None:
                arrays[target] = operands.array_package_of(described).empty(shape, dtype, like)  # type: ignore[arg-type]
        kernel(*(arrays[s] for s in slots), *(arrays[t] for t in targets))

    return step


def _reduce_step(kernel: Any, slots: Sequence[int], target: int, node: ReduceNode) -> Step:
    def step(arrays: list[Any]) -> None:
        inputs = (arrays[s] for s in slots)
        arrays[target] = kernel(*inputs, axis=node.axes, keepdims=node.keepdims)

    return step


def _view_step(slot: int, index: Any, target: int) -> Step:
    """Return the step that makes a view.

    The index includes ``...``, so that a single element is an array, too.
    """
    parts = index if isinstance(index, tuple) else (index,)
    index = parts if ... in parts else (*parts, ...)

    def step(arrays: list[Any]) -> None:
        arrays[target] = arrays[slot][index]

    return step


def _copy_step(slot: int, target: int) -> Step:
    def step(arrays: list[Any]) -> None:
        array = operands.operand(arrays[slot], "an argument")
        arrays[target] = operands.array_package_of(array).copy(arrays[slot])  # type: ignore[arg-type]

    return step


def _scalar_step(
    function: Callable[..., Any], slots: Sequence[int], targets: Sequence[int]
) -> Step:
    def step(arrays: list[Any]) -> None:
        results = function(*(arrays[s] for s in slots))
        for target, number in zip(targets, results if len(targets) > 1 else (results,)):
            arrays[target] = number

    return step
