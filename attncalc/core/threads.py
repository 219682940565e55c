"""Many calls at once, each with the linear algebra library on one thread.

numpy lets go of the interpreter while it computes, so plain threads are enough.  The linear algebra library has
threads of its own, which would get into each other's way.  The command line sees to it that it is loaded with one.
Elsewhere threadpoolctl (the extra ``fast``) holds it to one and gives them back afterwards; without threadpoolctl calls
run one after another, each on all cores.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from attncalc import address_space

Value = TypeVar("Value")

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""What linear algebra libraries read when they are loaded; one of them counts, and we do not know which."""

AHEAD = 4
"""Calls for each thread that are begun before the first result is fetched, so that no thread waits for us."""


ROOM = 2**27
"""Bytes that a thread may need to address: its stack, and the buffers of the linear algebra library.

The library ends the process where it does not get them."""


def cores() -> int:
    """Return how many cores this process may use, and has the room for."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        count = os.cpu_count() or 1
    left = address_space.room()
    return count if left is None else max(1, min(count, left // ROOM))


def hold_from_the_start() -> None:
    """Have the linear algebra library load with one thread.

    It adds up in another order with another number of threads, so that the last bit of an answer would depend on the
    machine; and our own threads have use for the cores.
    """
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(VARIABLES, "1"))


@contextmanager
def one_thread_each() -> Iterator[int]:
    """Hold the linear algebra library to one thread; yield how many calls may run at once."""
    if all(os.environ.get(name) == "1" for name in VARIABLES):
        yield cores()
        return
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield 1
        return
    with threadpool_limits(limits=1):
        yield cores()


def in_order(calls: Iterable[Callable[[], Value]], workers: int) -> Generator[Value, None, None]:
    """Make the calls, several at once; yield what they return in the order of the calls.

    At an exception, Ctrl-C included, calls that have not begun are given up, and those that have are waited for.
    """
    if workers == 1:
        for call in calls:
            yield call()
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # loads logging and more

    pool = ThreadPoolExecutor(workers)
    begun: deque[Future[Value]] = deque()
    try:
        for call in calls:
            begun.append(pool.submit(call))
            if len(begun) >= AHEAD * workers:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
