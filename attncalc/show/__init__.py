"""Records → what someone reads.

A command makes a ``Document`` (document.py, pages/); a renderer makes text of it.  Renderers know blocks,
labels and digits, and nothing about attention.  Nothing here prints.
"""

from importlib import import_module

from attncalc.show.document import Document
from attncalc.show.settings import Settings

__all__ = ["RENDERERS", "Document", "Settings", "render"]

# Page format → the module that has its render(document, settings); each is imported when it is asked for.
RENDERERS = {
    "table": "attncalc.show.terminal",
    "plain": "attncalc.show.plain",
    "markdown": "attncalc.show.markdown",
    "latex": "attncalc.show.latex",
    "html": "attncalc.show.webpage",
    "heatmap": "attncalc.show.heatmap",
}


def render(document: Document, format: str, settings: Settings) -> str:
    """Write a document in one of ``RENDERERS``: text that ends with a newline, ready for ``settings.encoding``."""
    text = import_module(RENDERERS[format]).render(document, settings)
    assert isinstance(text, str)
    return text
