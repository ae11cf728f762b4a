"""What an index shows: with the address of the repository, every link of the README leads there."""

from __future__ import annotations

import re
import runpy
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.check_release import LINK, missing_address, wrong_links
from tests.library import ROOT

URL = "https://example.org/own/azumaya"
SETUP: dict[str, Any] = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")


def metadata(url: str) -> Message:
    """The metadata that a build gives the package, as far as they have links."""
    about = Message()
    for label, address in SETUP["addresses"](url, "1.2.3").items():
        about["Project-URL"] = f"{label}, {address}"
    about.set_payload(SETUP["readme"](url, "1.2.3"))
    return about


def test_with_an_address_no_link_is_relative() -> None:
    about = metadata(URL)
    text = str(about.get_payload())
    before = (ROOT / "README.md").read_text()
    relative = [one or other for one, other in LINK.findall(before) if ":" not in one + other]
    assert len(relative) > 20
    for link in (one or other for one, other in LINK.findall(text)):
        assert urlsplit(link).scheme == "https"
        own = re.fullmatch(rf"{URL}/(blob|raw)/v1\.2\.3/([^#]+)(#.*)?", link)
        if own:
            file = ROOT / own[2]
            assert file.exists()
            assert (own[1] == "raw") == (file.suffix in {".png", ".svg", ".gif"})
    assert text.count(f"{URL}/") == len(relative)
    assert wrong_links(about) == []
    assert missing_address(about) == ""


def test_without_an_address_the_check_says_what_is_missing() -> None:
    about = metadata("")
    assert about.get_payload() == (ROOT / "README.md").read_text()
    assert re.match(
        r"the address of the repository is missing: the package has no URL, and \d+ links of the "
        r"README are dead on an index. Set it: AZUMAYA_REPOSITORY=",
        missing_address(about),
    )


@pytest.mark.parametrize(
    "wrong",
    ["http://example.org/own/name", "example.org/own", "https://example.org", "https://a b/c/d",
     "https://example.org/own", "https://example.org/own//name", "https://example.org/own/..",
     "https://example.org/own/name?x", "git@example.org:own/name.git"],
)  # fmt: skip
def test_what_is_no_address_is_refused(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZUMAYA_REPOSITORY", wrong)
    with pytest.raises(ValueError, match="must be like https://host/owner/name"):
        SETUP["repository"]()


@pytest.mark.parametrize("written", [URL, f"{URL}/", f"{URL}.git"])
def test_an_address_may_be_that_of_a_clone(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZUMAYA_REPOSITORY", written)
    assert SETUP["repository"]() == URL
