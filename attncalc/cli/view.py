"""--batch and --head: one part of a result."""

from typing import TYPE_CHECKING, Any

from attncalc.errors import OptionError

if TYPE_CHECKING:
    import numpy as np

    from attncalc.api import Result
    from attncalc.core.prepare import Problem


def chosen(problem: "Problem", batch: int | None, head: int | None) -> dict[str, int]:
    """Return the batch and the head that are asked for, by name; check that there are such."""
    sizes, layout = problem.sizes, problem.layout
    found = {}
    for name, asked, count, has in (
        ("batch", batch, sizes.B, layout.has_batch),
        ("head", head, sizes.H, layout.has_heads),
    ):
        if asked is None:
            continue
        if not has:
            raise OptionError(f"--{name} {asked}: these inputs have no {name} axis")
        if not 0 <= asked < count:
            raise OptionError(f"--{name} {asked}: there are {count}, counted from 0")
        found[name] = asked
    return found


class View:
    """A result from which one batch or one head may have been chosen."""

    def __init__(self, result: "Result", batch: int | None, head: int | None) -> None:
        self.result = result
        self.problem = result.problem
        self.chosen = chosen(self.problem, batch, head)

    def axes(self, stage: str) -> tuple[str, ...]:
        """Name the axes that a stage still has."""
        return tuple(axis for axis in self.problem.layout.stage_axes(stage) if axis not in self.chosen)

    def stage(self, name: str) -> "np.ndarray":
        """Return a stage, or what was chosen of it."""
        array = self.result.stages[name]
        axes = self.problem.layout.stage_axes(name)
        picks: list[Any] = [self._pick(name, axis) if axis in self.chosen else slice(None) for axis in axes]
        if name == "output" and self.problem.layout.packed and "head" in self.chosen and self._heads_apart():
            width = self.problem.sizes.d_v
            picks[-1] = slice(self.chosen["head"] * width, (self.chosen["head"] + 1) * width)
        picked: np.ndarray = array[tuple(picks)]
        return picked

    def _pick(self, stage: str, axis: str) -> int:
        n = self.chosen[axis]
        shared = axis == "head" and stage in ("key", "value")  # consecutive query heads share a key/value head
        return n * self.problem.sizes.G // self.problem.sizes.H if shared else n

    def _heads_apart(self) -> bool:
        """Whether the columns of a packed output still belong to one head each."""
        layer = self.problem.inputs.projection
        return layer is None or layer.wo is None
