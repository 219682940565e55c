"""The mathematics: arrays in, arrays out; numpy and nothing else.

Read ``steps.py`` first: ``RIGHT`` is the definition of attention, from top to bottom.  The formulas themselves
are in ``heads``, ``positions``, ``scores``, ``masks`` and ``softmax``; ``prepare`` turns what users give into a
``Problem`` and is the only place that checks it.

``RIGHT`` is walked whole by ``steps.run``, a few rows at a time by ``rows``; ``tiled`` is its fast twin for long
sequences of which no T × S stage is asked for, and ``compiled`` its inner loop as machine code.
"""
