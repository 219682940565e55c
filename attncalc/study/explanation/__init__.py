"""The steps of an explanation: what is said and worked out about each stage of a run.

``parts`` is what a step is made of, ``view`` what it looks at; the other files hold the steps, in the order of the
computation.  ``attncalc.study.explain`` puts them together.
"""
