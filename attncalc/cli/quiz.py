"""``attncalc quiz``: questions about attention, asked one by one or listed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.language import LanguageOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.values import whole

if TYPE_CHECKING:
    from attncalc.show import Settings
    from attncalc.study.quiz import Question
    from attncalc.texts import Voice

QUIZ = "Questions"
COUNT = 10


def quiz(
    env: Environment,
    language: LanguageOptions,
    output: PageOptions,
    *,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Seed of the order and of the numbers (0).", rich_help_panel=QUIZ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="How many questions (10; all with --list).", rich_help_panel=QUIZ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Print the questions instead of asking them.", rich_help_panel=QUIZ)
    ] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Print them with answers and explanations.", rich_help_panel=QUIZ)
    ] = False,
) -> None:
    """Ask questions about attention, and explain each answer at once.

    Answers are read from standard input, a line each, so that a pipe can answer too.
    """
    from attncalc.show.pages.quiz import listing
    from attncalc.study.quiz import questions as asked

    env = output.messages(env)
    format = output.chosen((*PAGES, "json"))
    settings = output.settings(env)
    voice = language.voice(env, settings)
    talking = format == "table" and output.out is None and not (listed or answers)
    start = 0 if seed is None else seed
    chosen = asked(voice, start, COUNT if questions is None and talking else questions)
    if talking:
        _ask(env, settings, voice, chosen, start)
        return
    options = {"seed": start, "questions": len(chosen), "lang": voice.lang}
    deliver(env, output, lambda: listing(chosen, voice, answers), lambda: _record(chosen, options, answers))


def _ask(env: Environment, settings: "Settings", say: "Voice", chosen: "Sequence[Question]", seed: int) -> None:
    """Ask one question after the other until they, or the answers, come to an end."""
    from attncalc.show import Document, render
    from attncalc.show.document import Text
    from attncalc.show.pages.quiz import asked, told

    right = done = unanswered = 0
    for n, question in enumerate(chosen, 1):
        env.write(("\n" if n > 1 else "") + render(asked(question, say, n, len(chosen)), "table", settings))
        given, verdict = _answer(env, say, question)
        if given is None:
            env.write("\n")
            break
        done += 1
        right += verdict is True
        unanswered += verdict is None
        env.write("\n" + render(told(question, say, verdict), "table", settings))
    end = [say("quiz.score", right=right, asked=done), say("quiz.again", seed=seed + 1)]
    if unanswered:
        end.insert(1, say("quiz.open", n=unanswered))
    env.write("\n" + render(Document(tuple(map(Text, end))), "table", settings))


def _answer(env: Environment, say: "Voice", question: "Question") -> tuple[str | None, bool | None]:
    """Read an answer: (None, None) at the end of the input; what is none is asked again, or left open in a pipe."""
    kind = "choice" if question.choices else "number"
    while True:
        env.write(say("quiz.prompt"))
        line = env.stdin.readline()
        if not line:
            return None, None
        given = line.decode("utf-8", "replace").strip()
        if not env.stdin.isatty():
            env.write(f"{given}\n")  # a pipe shows no keys
        if not given:
            return given, None
        verdict = question.judge(given)
        if verdict is not None:
            return given, verdict
        if not env.stdin.isatty():
            env.write(f"{say(f'quiz.unclear.{kind}')}\n")
            return given, None
        env.write(say("quiz.unclear", ask=say(f"quiz.ask.{kind}")) + "\n")


def _record(chosen: "Sequence[Question]", options: Mapping[str, Any], answers: bool) -> Mapping[str, Any]:
    rows = []
    for question in chosen:
        row: dict[str, Any] = {"id": question.id, "text": question.text, "choices": question.choices}
        if answers:
            answer = question.answer if question.number is None else question.number
            row |= {"answer": answer, "explanation": question.explanation}
        rows.append(row)
    return {"schema": "attncalc.quiz/1", "options": options, "notes": [], "questions": rows}
