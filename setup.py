"""Metadata that needs the address of the repository, which the tree does not know.

A release is built with `AZUMAYA_REPOSITORY=https://...`: the package then has its addresses, and
the README's links lead to the files of this version. Without it they lead nowhere on an index, as
`make release-check` says. All else is in `pyproject.toml`.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
SETTING = "AZUMAYA_REPOSITORY"
LINK = re.compile(r'(!?)(\[[^\]]*\]\(|(?:src|href)=")(?![a-z]+:|#)([^)\s"]+)')


def repository() -> str:
    """The address of the repository; empty if it is not set.

    Raises:
        ValueError: it is none.
    """
    url = os.environ.get(SETTING, "").rstrip("/").removesuffix(".git")
    if url and not re.fullmatch(r"https://[\w.-]+(/\w[\w.-]*){2,}", url):
        raise ValueError(f"{SETTING}={url}: must be like https://host/owner/name")
    return url


def addresses(url: str, version: str) -> dict[str, str]:
    """What an index lists beside the package."""
    if not url:
        return {}
    at = f"{url}/blob/v{version}"
    return {
        "Repository": url,
        "Documentation": f"{at}/docs/index.md",
        "Changes": f"{at}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }


def readme(url: str, version: str) -> str:
    """The README, with links to the files of a version; as it is without an address."""

    def absolute(found: re.Match[str]) -> str:
        picture = found[1] or found[2].startswith("src")
        return f"{found[1]}{found[2]}{url}/{'raw' if picture else 'blob'}/v{version}/{found[3]}"

    text = (ROOT / "README.md").read_text("utf-8")
    return LINK.sub(absolute, text) if url else text


if __name__ == "__main__":
    from setuptools import setup

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    setup(
        long_description=readme(repository(), project["version"]),
        long_description_content_type="text/markdown",
        project_urls=addresses(repository(), project["version"]),
    )
