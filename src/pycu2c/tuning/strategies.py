"""Choose which candidates are measured next: by ``start``, ``ask`` and ``tell``."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pycu2c.base.lazy_imports import import_module
from pycu2c.declarations.options import OptionError
from pycu2c.tuning.space import Configuration, text_of

_FIRST = 12  # random candidates before a local search
_OPTUNA_ATTEMPTS = 50  # suggestions in search of a new candidate


class Strategy(Protocol):
    """A search of the fastest candidate. ``tell`` also receives faulty and earlier candidates."""

    def start(
        self, values: Mapping[str, Sequence[Any]], candidates: Sequence[Configuration]
    ) -> None: ...
    def ask(self, count: int) -> Sequence[Configuration]: ...
    def tell(self, configuration: Configuration, seconds: float | None) -> None: ...


class ExhaustiveSearch:
    """Measure all candidates in a random order; within a time limit it is a random search."""

    def start(
        self, values: Mapping[str, Sequence[Any]], candidates: Sequence[Configuration]
    ) -> None:
        self._values = {name: list(choices) for name, choices in values.items()}
        self._unseen = {text_of(c): c for c in candidates}
        self._random = random.Random(0)
        self._order = list(self._unseen)
        self._random.shuffle(self._order)

    def ask(self, count: int) -> Sequence[Configuration]:
        """Return up to ``count`` candidates that were not returned before; none at the end."""
        return self._take([text for text in self._order if text in self._unseen][:count])

    def _take(self, texts: Sequence[str]) -> list[Configuration]:
        return [self._unseen.pop(text) for text in texts]

    def tell(self, configuration: Configuration, seconds: float | None) -> None:
        """Record a time; None is a faulty candidate."""
        self._unseen.pop(text_of(configuration), None)


class LocalSearch(ExhaustiveSearch):
    """Measure random candidates, then those that resemble the fastest ones, then all others."""

    def start(
        self, values: Mapping[str, Sequence[Any]], candidates: Sequence[Configuration]
    ) -> None:
        super().start(values, candidates)
        self._times: list[tuple[float, Configuration]] = []

    def ask(self, count: int) -> Sequence[Configuration]:
        """Return up to ``count`` candidates that were not returned before; none at the end."""
        if len(self._times) < _FIRST:
            return super().ask(count)
        chosen: list[str] = []
        for _, centre in sorted(self._times, key=lambda pair: pair[0])[:3]:
            near = sorted(self._unseen, key=lambda text: self._distance(centre, text))
            chosen += [t for t in near if t not in chosen and self._distance(centre, t)[0] <= 2][
                : -(-count // 2)
            ]
        return self._take(chosen[: count - 1]) + list(super().ask(1))  # one is random

    def _distance(self, centre: Configuration, text: str) -> tuple[int, int]:
        """Return how many values differ, and by how many steps in the lists of values."""
        other = self._unseen[text]
        steps = [
            abs(choices.index(centre[n]) - choices.index(other[n]))
            if centre[n] in choices
            else len(choices)
            for n, choices in self._values.items()
        ]
        return sum(map(bool, steps)), sum(steps)

    def tell(self, configuration: Configuration, seconds: float | None) -> None:
        """Record a time; None is a faulty candidate."""
        super().tell(configuration, seconds)
        if seconds is not None:
            self._times.append((seconds, configuration))


class OptunaSearch(ExhaustiveSearch):
    """A search by a sampler of Optuna; by default its tree-structured Parzen estimator."""

    def __init__(self, sampler: Any = None) -> None:
        try:
            self._optuna: Any = import_module("optuna")
        except ImportError as error:
            raise OptionError("strategy='optuna' needs: pip install pycu2c[tune]") from error
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        samplers = self._optuna.samplers
        self._sampler = sampler or samplers.TPESampler(seed=0, constant_liar=True)
        self._trials: dict[str, Any] = {}

    def start(
        self, values: Mapping[str, Sequence[Any]], candidates: Sequence[Configuration]
    ) -> None:
        super().start(values, candidates)
        self._study = self._optuna.create_study(sampler=self._sampler)

    def ask(self, count: int) -> Sequence[Configuration]:
        """Return up to ``count`` candidates that were not returned before; none at the end."""
        chosen: list[Configuration] = []
        for _ in range(_OPTUNA_ATTEMPTS):
            if len(chosen) == count:
                break
            trial = self._study.ask()
            indices = {n: range(len(choices)) for n, choices in self._values.items()}
            picked = {n: trial.suggest_categorical(n, tuple(r)) for n, r in indices.items()}
            text = text_of({n: self._values[n][i] for n, i in picked.items()})
            if text in self._unseen:
                self._trials[text] = trial
                chosen += self._take([text])
            else:  # excluded by a restriction, or measured
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return chosen or super().ask(count)

    def tell(self, configuration: Configuration, seconds: float | None) -> None:
        """Record a time; None is a faulty candidate."""
        super().tell(configuration, seconds)
        trial = self._trials.pop(text_of(configuration), None)
        if trial is not None and seconds is None:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        elif trial is not None:
            self._study.tell(trial, seconds)


_STRATEGIES = {"exhaustive": ExhaustiveSearch, "local": LocalSearch, "optuna": OptunaSearch}


def strategy_of(strategy: object) -> Strategy:
    """Return a strategy by its name, or the object itself. Raises OptionError."""
    if isinstance(strategy, str):
        if strategy not in _STRATEGIES:
            names = ", ".join(_STRATEGIES)
            raise OptionError(f"a strategy is one of {names}, not {strategy!r}")
        return _STRATEGIES[strategy]()
    chosen: Strategy = strategy  # type: ignore[assignment]
    return chosen
