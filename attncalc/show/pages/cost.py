"""The page of ``attncalc cost``: counts as people read them, and what they mean."""

from collections.abc import Sequence

from attncalc.show.document import Block, Column, Document, Heading, Table, Text
from attncalc.study.cost import BYTES, TILE, Row, Sizes
from attncalc.texts import Voice

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def page(rows: Sequence[Row], sizes: Sizes, say: Voice) -> Document:
    """Make the page."""
    widths = {name: getattr(sizes, name) for name in ("batch", "heads", "kv_heads", "dim", "value_dim", "dtype")}
    blocks: list[Block] = [
        Heading(say("cost.title")),
        Text(say("cost.text", **widths, bytes=BYTES[sizes.dtype])),
        _main(rows, say),
        Text(say("cost.read.elements")),
        Text(say("cost.read.work")),
        Text(_cache(sizes, say)),
    ]
    if sizes.flops is not None:
        blocks.append(Text(say("cost.read.seconds", flops=f"{sizes.flops:.3g}")))
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        ratio, growth = ratio_text(last.tokens / first.tokens), ratio_text(last.growth)
        blocks.append(Text(say("cost.read.growth", first=first.tokens, last=last.tokens, ratio=ratio, growth=growth)))
    blocks += [_instead(rows, say), Text(say("cost.read.tiled", tile=TILE))]
    if sizes.window is not None:
        blocks.append(Text(say("cost.read.window", before=sizes.window - 1)))
    blocks.append(Text(say("cost.read.linear")))
    return Document(tuple(blocks))


def _cache(sizes: Sizes, say: Voice) -> str:
    share = sizes.heads // sizes.kv_heads
    return say("cost.read.cache.same") if share == 1 else say("cost.read.cache", share=share)


def _main(rows: Sequence[Row], say: Voice) -> Table:
    names = ["tokens", "elements", "bytes", "growth", "multiply_adds", "cache"]
    cells = [
        [
            grouped(row.tokens),
            grouped(row.weights_elements),
            bytes_text(row.weights_bytes),
            f"{ratio_text(row.growth)}×",
            grouped(row.multiply_adds),
            bytes_text(row.kv_cache_bytes),
        ]
        for row in rows
    ]
    if rows[0].seconds is not None:
        names.append("seconds")
        for cell, row in zip(cells, rows, strict=True):
            cell.append(seconds_text(row.seconds or 0.0))
    return _table(names, cells, say, say("cost.matrix"))


def _instead(rows: Sequence[Row], say: Voice) -> Table:
    names = ["tokens", "bytes", "tiled"]
    columns = [
        [grouped(row.tokens) for row in rows],
        [bytes_text(row.weights_bytes) for row in rows],
        [bytes_text(row.tiled_bytes) for row in rows],
    ]
    if rows[0].window_elements is not None:
        names += ["window", "window.work"]
        columns.append([grouped(row.window_elements or 0) for row in rows])
        columns.append([grouped(row.window_multiply_adds or 0) for row in rows])
    names += ["linear", "linear.work"]
    columns.append([bytes_text(row.linear_bytes) for row in rows])
    columns.append([grouped(row.linear_multiply_adds) for row in rows])
    return _table(names, [list(cell) for cell in zip(*columns, strict=True)], say, say("cost.instead"))


def _table(names: list[str], cells: list[list[str]], say: Voice, title: str) -> Table:
    columns = tuple(Column(say(f"cost.{name}"), "right") for name in names)
    return Table(columns, tuple(map(tuple, cells)), title=title)


def grouped(count: int) -> str:
    """Write a count: all digits up to a million, then with a power of ten."""
    return f"{count:,}".replace(",", " ") if count < 10**7 else f"{count:.3e}"


def bytes_text(count: int) -> str:
    """Write bytes in the unit that leaves one to four digits."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.4g} {UNITS[unit]}"


def seconds_text(seconds: float) -> str:
    """Write a time in the unit that fits."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (120.0, 1.0, "s"), (7200.0, 1 / 60, "min")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds / 3600:.3g} h"


def ratio_text(ratio: float) -> str:
    """Write how many times more: without decimals when it is whole."""
    return f"{ratio:.0f}" if ratio == round(ratio) else f"{ratio:.3g}"
