"""The pages of ``attncalc quiz``: one question, what is said to an answer, and the list of all."""

from collections.abc import Sequence

from attncalc.show.document import Block, Document, Heading, Lines, Role, Span, Text
from attncalc.study.quiz import LETTERS, Question
from attncalc.texts import Voice


def listing(questions: Sequence[Question], say: Voice, answers: bool) -> Document:
    """List questions, with their answers if asked for."""
    blocks: list[Block] = [Heading(say("quiz.title"))]
    for n, question in enumerate(questions, 1):
        blocks += _asked(f"{n}.", question)
        if answers:
            said = say("quiz.answer", answer=answer_text(question))
            blocks.append(Text((Span(said, Role.RIGHT), f"{_gap(say)}{question.explanation}")))
    return Document(tuple(blocks))


def asked(question: Question, say: Voice, n: int, count: int) -> Document:
    """Ask one question."""
    ask = say("quiz.ask.choice" if question.choices else "quiz.ask.number")
    head = Heading(say("quiz.number", n=n, count=count), level=2)
    return Document((head, *_asked("", question), *([Text(ask)] if n == 1 or not question.choices else [])))


def told(question: Question, say: Voice, right: bool | None) -> Document:
    """Answer an answer; None where the question was skipped."""
    answer = answer_text(question)
    if right is None:
        verdict = Span(say("quiz.skipped", answer=answer))
    elif right:
        verdict = Span(f"✓ {say('quiz.right')}", Role.RIGHT)
    else:
        verdict = Span(f"✗ {say('quiz.wrong', answer=answer)}", Role.WRONG)
    return Document((Text((verdict, f"{_gap(say)}{question.explanation}")),))


def answer_text(question: Question) -> str:
    """Write the answer with the words of the choice."""
    if not question.choices:
        return question.answer
    return f"{question.answer}) {question.choices[LETTERS.index(question.answer)]}"


def _gap(say: Voice) -> str:
    """Return what stands between two sentences."""
    return "" if say.lang == "zh" else " "


def _asked(number: str, question: Question) -> list[Block]:
    blocks: list[Block] = [Text(f"{number} {question.text}".strip())]
    if question.choices:
        blocks.append(Lines(tuple(f"  {a}) {choice}" for a, choice in zip(LETTERS, question.choices, strict=False))))
    return blocks
