"""Text in, exit status out.  A command reads, calls and shows; it does no arithmetic.

``app`` lists the commands; each is a function in a file of its own name, which takes groups of options
(``options``, ``inputs``, ``output``) and the ``Environment`` that it runs in.
"""
