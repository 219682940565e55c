"""Voices for tests: numbers as the pages write them, without the pages."""

from attncalc.texts import Voice


def four_digits(values, fixed):
    if not fixed and all(float(value).is_integer() for value in values):
        return [f"{value:.0f}" for value in values]
    return ["−∞" if value == float("-inf") else f"{value:.4f}".replace("-0.0000", "0.0000") for value in values]


ENGLISH = Voice("en", four_digits)
CHINESE = Voice("zh", four_digits)
