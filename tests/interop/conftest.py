"""The inputs that every library is asked about."""

import pytest
from interop.shared import Inputs


@pytest.fixture(scope="session")
def inputs() -> Inputs:
    return Inputs()
