"""Make the screenshots of the README: ``python tests/browser/screenshots.py``; needs Chromium and Pillow."""

import io
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from selenium import webdriver

import attncalc
from attncalc.study.examples import example

sys.path.insert(0, str(Path(__file__).parent.parent))

from browser.conftest import CHROMIUM, Browser, make

FOLDER = Path(__file__).parent / "screenshots"
SIZE = (1280, 800)
COLORS = 96


def chromium() -> webdriver.Chrome:
    """Start the browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, CHROMIUM)))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def save(browser: Browser, name: str) -> None:
    """Write what is on the screen as a small file."""
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


def numbers(browser: Browser, folder: Path) -> None:
    """The numbers of four words, with the arithmetic behind a weight."""
    browser.open(make(folder, "compute", "--example", "causal-words"), (1280, 1130))
    browser.click(browser.cell("weights", 2, 1))
    save(browser, "numbers")


def answer(browser: Browser, folder: Path) -> None:
    """A wrong answer, and the mistake that explains it."""
    given = example("causal-words")
    wrong = attncalc.attention(given.query, given.key, given.value, **given.keywords | {"causal": False})
    np.save(folder / "got.npy", wrong.output)
    browser.open(make(folder, "check", "--example", "causal-words", "--got", str(folder / "got.npy")), SIZE, "dark")
    save(browser, "answer")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    driver = chromium()
    try:
        with tempfile.TemporaryDirectory() as folder:
            numbers(Browser(driver), Path(folder))
            answer(Browser(driver), Path(folder))
    finally:
        driver.quit()
