"""The version is one that the users of 0.0.8 accept; tests/library/version.rs asks Cargo's rules."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

VERSION = version("openai-harmony")


# mlx-openai-server pins the first.
@pytest.mark.parametrize(
    "pin", [">=0.0.8,<0.1", "==0.0.8", "~=0.0.8", ">=0.0.4", "<=0.0.8", ">=0.0.8,<0.0.9"]
)
def test_a_pin_on_0_0_8_takes_this_package(pin: str) -> None:
    assert VERSION in SpecifierSet(pin)


def test_it_is_newer_than_0_0_8_and_no_prerelease() -> None:
    # So `pip install --upgrade` replaces the published package where both can be had.
    assert Version("0.0.8") < Version(VERSION) < Version("0.0.9")
    assert not Version(VERSION).is_prerelease
    assert Version(VERSION) < Version("0.0.8+dropin.10")


def test_it_is_written_in_the_normal_form() -> None:
    assert str(Version(VERSION)) == VERSION
