"""What every page must be: well formed, whole by itself, and with other people's text as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link"}


class Page(HTMLParser):
    """Reads a page: its text without styles and scripts, its elements, and that each is closed where it was opened."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)

    @property
    def said(self) -> str:
        return " ".join("".join(self.text).split())

    @property
    def squeezed(self) -> str:
        """The same without spaces, which elements set apart."""
        return re.sub(r"\s", "", self.said)


def sound(text: str) -> Page:
    """The page, which is well formed and fetches nothing, and whose links lead somewhere."""
    assert text.isascii() and text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    page = Page(text)
    ids = [given["id"] for _, given in page.elements if "id" in given]
    assert len(ids) == len(set(ids)), sorted(name for name in ids if ids.count(name) > 1)
    links = [given[name] for _, given in page.elements for name in ("href", "src") if name in given]
    assert all(link.startswith("#") and link[1:] in ids for link in links), links
    named = [given[name] for _, given in page.elements for name in ("aria-labelledby", "for") if name in given]
    assert set(named) <= set(ids)
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org)", text)
    return page


def text_only(text: str) -> Page:
    """The page of something in which every text is one of `pictured.NASTY`: all of it shown, none of it obeyed."""
    page = Page(text)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert "hurt" in page.said and not re.search(r"\b49\b", page.said)
    assert "{{7*7}}" in page.said and "U+202E" in page.said and "\u202e" not in page.said
    assert not any(name.startswith("on") for _, given in page.elements for name in given)
    return page
