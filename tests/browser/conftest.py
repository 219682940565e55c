"""A headless Chromium, driven through its own driver; without them the tests are skipped and say so."""

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attncalc.cli.app import run
from attncalc.cli.environment import Environment

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESK, PHONE = (1280, 800), (390, 844)


def make(folder: Path, *arguments: str, **variables: str) -> Path:
    """Run attncalc in a folder with ``-o page.html``; return the page."""
    page, out, err = folder / "page.html", io.BytesIO(), io.StringIO()
    env = Environment(io.BytesIO(), out, err, "utf-8", None, variables)
    code = run((*arguments, "-o", str(page)), env)
    assert code in (0, 1), err.getvalue()
    return page


class Browser:
    """What the tests do with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, size: tuple[int, int] = DESK, scheme: str = "light") -> "Browser":
        """Open a page in a window of that size, for eyes that prefer that scheme."""
        width, height = size
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.cdp("Emulation.setDeviceMetricsOverride", **screen)
        self.media(scheme)
        self.driver.get(page.as_uri())
        return self

    def media(self, scheme: str = "light", media: str = "") -> None:
        """Choose light or dark, screen or print."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp("Emulation.setEmulatedMedia", media=media, features=features)

    def cdp(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        """The text of an element, also where it is not on the screen."""
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector: str) -> None:
        """Press something as a script does; ``point`` uses the mouse."""
        self.js("document.querySelector(arguments[0]).click()", selector)

    def cells(self, stage: str) -> list[list[str]]:
        """The numbers of a stage as they are shown."""
        return self.js(
            "return [...document.querySelectorAll(`#flow [data-stage=${arguments[0]}] tbody tr`)]"
            ".map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))",
            stage,
        )

    def cell(self, stage: str, i: int, j: int | str) -> str:
        """The selector of a cell."""
        return f'#flow [data-stage={stage}] td[data-i="{i}"][data-j="{j}"]'

    def point(self, selector: str) -> None:
        """Move the mouse over something."""
        from selenium.webdriver import ActionChains

        target = self.one(selector)
        self.js("arguments[0].scrollIntoView({block: 'center'})", target)
        ActionChains(self.driver).move_to_element(target).perform()

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def focus(self, selector: str) -> None:
        self.js("document.querySelector(arguments[0]).focus()", selector)

    @property
    def focused(self) -> str:
        """The text of what has the focus."""
        return self.js("return document.activeElement.textContent")

    @property
    def inspector(self) -> str:
        return self.text("#arithmetic")

    def complaints(self) -> list[str]:
        """What the console has to say."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary = next(filter(None, map(shutil.which, CHROMIUM)), None)
    server = shutil.which("chromedriver")
    if binary is None or server is None:
        pytest.skip("no Chromium with its chromedriver is installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(server))
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Browser]:
    """A browser; after the test, the console must be silent and nothing but the page have been asked for."""
    found = Browser(chromium)
    chromium.get("about:blank")
    found.complaints(), found.requests()
    yield found
    assert found.complaints() == []
    asked = found.requests()
    assert asked
    assert all(address.startswith("file:///") and address.endswith("page.html") for address in asked), asked


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Make a page, or take the one that was made with the same arguments."""
    made: dict[tuple[str, ...], Path] = {}

    def page(*arguments: str) -> Path:
        if arguments not in made:
            made[arguments] = make(tmp_path_factory.mktemp("page"), *arguments)
        return made[arguments]

    return page
