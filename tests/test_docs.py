"""The docs hang together: the site's table of contents has every page, links lead somewhere, the site builds strictly,
opens from disk and fetches nothing."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator

import pytest
import yaml
from docs.website import PAGES, ROOT, site

LATER = {"api/index.html"}                          # made after mkdocs is done
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")


def pages() -> set[str]:
    return {file.relative_to(ROOT).as_posix() for pattern in PAGES for file in ROOT.glob(pattern)}


def listed(nav: object) -> Iterator[str]:
    """The pages of a table of contents, however deep."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(part)


def test_the_table_of_contents_has_every_page_once():
    found = list(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(found) == sorted(pages() | LATER)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and mkdocs make it."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


def faults(page: str) -> Iterator[str]:
    text = FENCED.sub("", (ROOT / page).read_text())
    for target in (one or other for one, other in LINK.findall(CODE.sub("", text))):
        file, _, anchor = target.partition("#")
        if "://" in file:
            continue
        found = (ROOT / page).parent / file if file else ROOT / page
        if not found.is_file():
            yield f"{page} links to {target}, which is no file"
        elif anchor and anchor not in map(slug, re.findall(r"^#+ (.*)$", FENCED.sub("", found.read_text()), re.M)):
            yield f"{page} links to {target}, and there is no such heading"


@pytest.mark.parametrize("page", sorted(pages()))
def test_links_lead_somewhere(page):
    assert not list(faults(page))


@pytest.mark.parametrize("page", sorted(pages()))
def test_lists_and_tables_are_read_as_such_by_every_reader(page):
    """GitHub takes a list without an empty line before it, and one that is indented by two; mkdocs does not."""
    lines = FENCED.sub(lambda block: "\n" * block[0].count("\n"), (ROOT / page).read_text()).splitlines()
    for number, (before, line) in enumerate(zip(["", *lines], lines, strict=False), 1):
        item = re.match(r"(\* |- |\d+\. )", line)
        assert not item or not before.strip() or re.match(r"(\* |- |\d+\. |  )", before), f"{page}:{number}: {line}"
        assert not re.match(r" {1,3}(\* |- |\d+\. )", line), f"{page}:{number}: indent by four: {line}"
        assert not line.startswith("|") or not before.strip() or before.startswith("|"), f"{page}:{number}: {line}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("material", reason="the site is made with mkdocs-material: pip install -e '.[docs]'")
    return site(tmp_path_factory.mktemp("site"))


def test_the_site_builds_strictly_and_fetches_nothing(built):
    made = {page.relative_to(built).as_posix() for page in built.rglob("*.html")}
    assert {page.replace("README.md", "index.md").replace(".md", ".html") for page in pages()} <= made
    for page in built.rglob("*.html"):
        fetched = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?(https?://[^">\s]+)', page.read_text())
        assert not fetched, f"{page} fetches {fetched}"


@pytest.mark.long
def test_the_search_works_where_the_site_is_opened_from_disk(built):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("Chromium and its driver are not installed on this machine")
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        browser.get((built / "docs" / "cli.html").as_uri())
        browser.find_element(By.CSS_SELECTOR, "label.md-header__button[for=__search], .md-search__input").click()
        time.sleep(1)
        browser.find_element(By.CSS_SELECTOR, ".md-search__input").send_keys("counterexample")
        said = WebDriverWait(browser, 30).until(
            lambda b: "matching" in (text := b.find_element(By.CSS_SELECTOR, ".md-search-result__meta").text) and text)
        assert int(said.split()[0]) >= 2
        assert not browser.get_log("browser")
        sent = [json.loads(entry["message"])["message"]["params"] for entry in browser.get_log("performance")]
        assert not [one for one in sent if one.get("request", {}).get("url", "").startswith("http")]
    finally:
        browser.quit()
