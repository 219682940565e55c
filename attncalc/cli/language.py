"""The language in which the teaching commands speak."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.output import OUTPUT

if TYPE_CHECKING:
    import numpy as np

    from attncalc.show import Settings
    from attncalc.texts import Voice


@dataclass(frozen=True)
class LanguageOptions:
    """In which language a command speaks."""

    lang: Annotated[
        str | None,
        typer.Option(metavar="en|zh", help="English or Chinese (ATTNCALC_LANG, or en).", rich_help_panel=OUTPUT),
    ] = None

    def voice(self, env: Environment, settings: "Settings", format: str = "table") -> "Voice":
        """Return the voice of the language that the option or ATTNCALC_LANG names, with numbers as on the page."""
        from attncalc.show.digits import Signs, texts
        from attncalc.texts import Voice, language

        full = format == "plain"

        def write(numbers: "np.ndarray", fixed: bool) -> list[str]:
            row = numbers[None]
            return texts(row, row, settings.digits, full=full, fixed=fixed, signs=Signs())[0]

        return Voice(language(self.lang, env.variables), write)
