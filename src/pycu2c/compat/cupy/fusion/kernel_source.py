"""Generate a Python function of elements from nodes; elementwise kernels compile it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.base.source import Source
from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.python_functions import PythonFunction

Leaf: TypeAlias = "graph.GraphInput | graph.ReduceNode | graph.ViewNode"


@dataclass(frozen=True, slots=True)
class ElementText:
    """The text of a function of elements.

    leaves: the nodes whose elements are the arguments. names: the names of the parameters.
    constants: the values of the globals ``c0``, ``c1``, ….
    """

    text: str
    leaves: tuple[Leaf, ...]
    names: tuple[str, ...]
    constants: tuple[Any, ...]

    def function(self, name: str) -> PythonFunction:
        """Return the function for kernels, which compile it."""
        source = self._source(name)
        weak = frozenset(k for k, leaf in enumerate(self.leaves) if graph.dtype_of(leaf) is None)
        return PythonFunction(source.python, name, source, weak)

    def scalar_function(self, name: str) -> Callable[..., Any]:
        """Return the function for Python, which calls it with numbers."""
        return self._source(name).python

    def _source(self, name: str) -> Source:
        scope = {"np": np, **{f"c{k}": value for k, value in enumerate(self.constants)}}
        file = f"<{name}>"
        exec(compile(self.text, file, "exec"), scope)
        tree = ast.parse(self.text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return Source(scope[name], tree, file, tuple(self.text.splitlines(keepends=True)))


def element_text(name: str, nodes: Sequence[graph.Node], parameters: Sequence[str]) -> ElementText:
    """Generate the function that computes nodes; ``parameters``: the names of graph inputs."""
    writer = _Writer(parameters)
    results = [writer.name_of(node) for node in nodes]
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    head = f"def {name}({', '.join(writer.names)}):"
    lines = [head, *(f"    {line}" for line in writer.lines), f"    return {returned}"]
    text = "\n".join(lines) + "\n"
    return ElementText(text, tuple(writer.leaves), tuple(writer.names), tuple(writer.constants))


class _Writer:
    """Assigns names to nodes, and generates the assignments."""

    def __init__(self, parameters: Sequence[str]) -> None:
        self._parameters = parameters
        self._names: dict[int, str] = {}
        self._nodes: list[graph.Node] = []  # kept alive, because their ids are keys
        self.lines: list[str] = []
        self.leaves: list[Leaf] = []
        self.names: list[str] = []
        self.constants: list[Any] = []

    def name_of(self, node: graph.Node) -> str:
        """Return the name of a node; generate the assignment of its value at the first use."""
        name = self._names.get(id(node))
        if name is None:
            name = self._names[id(node)] = self._add(node)
            self._nodes.append(node)
        return name

    def _add(self, node: graph.Node) -> str:
        match node:
            case graph.GraphConstant(like):
                self.constants.append(like)
                return f"c{len(self.constants) - 1}"
            case graph.UfuncNode(function, arguments, result_index):
                call = f"np.{function}({', '.join(map(self.name_of, arguments))})"
                return self._assign(
                    _typed_result(node, call if result_index is None else f"{call}[{result_index}]")
                )
            case graph.CastNode(value, shape_node):
                self._add_leaves(shape_node)
                return self._assign(_convert(graph.dtype_of(node), self.name_of(value)))
            case graph.GraphInput(position):
                return self._add_leaf(node, self._parameters[position])
            case graph.ReduceNode():
                return self._add_leaf(node, f"reduced{len(self.leaves)}")
            case graph.ViewNode():
                return self._add_leaf(node, f"part{len(self.leaves)}")

    def _assign(self, value: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def _add_leaf(self, node: Leaf, name: str) -> str:
        self.leaves.append(node)
        self.names.append(name)
        return name

    def _add_leaves(self, node: graph.Node) -> None:
        """Add the leaves of a node, so that the kernel has its shape."""
        if isinstance(node, (graph.GraphInput, graph.ReduceNode, graph.ViewNode)):
            self.name_of(node)
        elif isinstance(node, graph.CastNode):
            self._add_leaves(node.shape_node)
        elif isinstance(node, graph.UfuncNode):
            for argument in node.arguments:
                self._add_leaves(argument)


def _typed_result(node: graph.UfuncNode, text: str) -> str:
    """Convert a result to numpy's dtype if kernels may compute it in another dtype."""
    dtype = graph.dtype_of(node)
    argument_dtypes = {graph.dtype_of(a) for a in node.arguments} - {None}
    return text if dtype is None or argument_dtypes == {dtype} else _convert(dtype, text)


def _convert(dtype: np.dtype[Any] | None, text: str) -> str:
    name = "bool_" if dtype == np.dtype(bool) else str(dtype)
    return f"np.{name}({text})" if hasattr(np, name) else text
