"""A page in a real browser: it opens from disk without a complaint, and what people do with it works.

The browser is Debian's Chromium with its driver, without a window. Where there is none, these tests are skipped.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from fuzz.campaigns import campaign, finding
from report import pictured, suites
from samesame.formula import expr as e
from samesame.formula.mathml import mathml_tensor
from samesame.formula.tensor import leaf
from samesame.fuzz.corpus import read_campaign
from samesame.fuzz.page import campaign_html
from samesame.gguf.formats import Compared
from samesame.gguf.names import Source
from samesame.gguf.page import weights_html
from samesame.gguf.verb import Answer, Tensor
from samesame.kernels.verdict import Formula, KernelVerdict, LiftVerdict, Obligation, Stage
from samesame.refine import load_job, refine
from samesame.report.html.check import write_check
from samesame.report.html.lift import lift_html
from samesame.report.html.optimized import optimized_html
from samesame.report.html.page import write_page
from samesame.report.html.refine import refine_html
from samesame.report.html.several import several_html
from samesame.report.optimized import Report, Row, Step
from samesame.several import agreeing, alone
from samesame.suite.page import suite_html
from samesame.sweep.outcome import Outcome, Sweep
from samesame.sweep.page import sweep_html
from samesame.sweep.probe import Plan, Probe

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PAGES = ["same", "different", "nasty", "fuzz", "several", "optimize", "suite", "gguf", "refine", "lift", "sweep"]
WORDS = ("same", "different", "found", "c stands alone", "faster", "suite.toml", "does not refine", "violated")
PAGED = Path(__file__).parent / "paged.py"
ROWS = [Row("kernels", "eager", True, 3.5e-4, 0.17, 64, winner=True),
        Row("torch.compile, max-autotune and freezing", "x", False, 1.1e-3, 0.3, 64, best=True)]
STEP = Step("reshape", "x", "y", (mathml_tensor("t", leaf("x" * 90, (2, 3))),) * 2)
MISSING = "no Chromium here: apt-get install chromium chromium-driver"
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {"same": pictured.checked(), "different": pictured.checked(wrong=True), "nasty": pictured.nasty()}
    for name, verdict in made.items():
        write_check(verdict, folder / f"{name}.html")
    crash = replace(finding(), number=2, kind="crash", guilty={}, twin="", first="")
    found = campaign(folder / "found", finding(), crash)
    three = pictured.three()
    tensors = [Tensor(f"blk.{layer}.attn_q.weight", "Q4_K", Source((f"model.layers.{layer}.self_attn.q_proj.weight",)),
                      Compared(how, 0.1, (21, 48), 1680), "is 1.05 times what it should be")
               for layer, how in enumerate(("wrong", "missing", "quantised"))]
    others = {"suite": suite_html(suites.made(), folder / "suite_files"),
              "fuzz": campaign_html(read_campaign(found), found),
              "optimize": optimized_html(Report("model.py:f", "faster", rows=ROWS, steps=(STEP,)), {}),
              "gguf": weights_html(Answer("hf:model", "gguf:model.gguf", tensors)),
              "refine": refine_html(refine(**load_job("examples/tensor_parallel_bias.py"), world_size=2)),
              "lift": lift_html(broken()),
              "sweep": sweep_html(swept(), {}, folder / "sweep_files"),
              "several": several_html(three, alone(three), agreeing(three), 1)}
    for name, text in others.items():
        write_page(text, folder / f"{name}.html")
    return {name: (folder / f"{name}.html").as_uri() for name in (*made, *others)}


def broken():
    """The verdict on `paged.py`, with several things to say of its longest line."""
    found = [Obligation("bounds", "violated", "an access leaves its tensor", f"{PAGED}:12",
                        {"program": [3], "lane": [100], "line": f"{PAGED}:12"}),
             Obligation("coverage", "proved", "every element of out is written", f"{PAGED}:14"),
             Obligation("race", "proved", "no two programs write one element of out", f"{PAGED}:14")]
    i, j = e.index(e.Size("m", 1)), e.index(e.Size("n", 1))
    told = "out[i, j] = x*[100·i + j]"
    stages = [Stage("by the element", told, "", f"{PAGED}:14")]
    formulas = [Formula("out", told, "", expr=((i, j), leaf("x*", (1,))[100 * i + j]))]
    return LiftVerdict(f"{PAGED}:sloppy", [KernelVerdict("sloppy_kernel", f"{PAGED}:9", obligations=found,
                                                         stages=stages, formulas=formulas)])


def swept():
    probes = [Probe(name, value, {name: value}) for name, value in (("act", "gelu"), ("act", "silu"), ("eps", 1))]
    ends = [Outcome(probe, end) for probe, end in zip(probes, ("different", "same", "same"), strict=True)]
    return Sweep("hf:.", "vllm:.", "llama", None, Plan(tuple(probes), (("vocab_size", "other weights"),)), ends)


def opened(browser, address, *, width=1200, dark=False):
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get(address)
    assert browser.get_log("browser") == []
    return browser


def shown(browser, what):
    return [part for part in browser.find_elements(By.CSS_SELECTOR, what) if part.is_displayed()]


@pytest.mark.parametrize("name", PAGES)
def test_it_opens_without_a_complaint_and_nothing_is_fetched(browser, pages, name):
    opened(browser, pages[name])
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.title.split(":")[0] in WORDS
    assert len(browser.find_elements(By.TAG_NAME, "main")) == 1 and browser.find_element(By.TAG_NAME, "nav")


def test_where_they_part_is_open_first(browser, pages):
    opened(browser, pages["different"])
    bands = browser.find_elements(By.CSS_SELECTOR, "details.band[open]")
    assert [band.find_element(By.TAG_NAME, "summary").text.count("here they part") for band in bands] == [1]
    assert browser.find_element(By.CSS_SELECTOR, "section.card h2").text == "where they part"


def test_a_click_and_enter_open_a_relation_and_escape_closes_it(browser, pages):
    opened(browser, pages["same"])
    band = browser.find_element(By.XPATH, "//details[contains(@class, 'band')][contains(., '.norm')][2]")
    band.find_element(By.TAG_NAME, "summary").click()
    link = band.find_element(By.CSS_SELECTOR, "a.tie")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    panel = browser.find_element(By.ID, "panel")
    assert not panel.is_displayed()
    for way in ("click", "enter"):
        line = link.find_element(By.CSS_SELECTOR, ".hit")
        if way == "click":
            webdriver.ActionChains(browser).move_to_element(line).click().perform()
        else:
            browser.execute_script("arguments[0].focus()", link)
            browser.switch_to.active_element.send_keys(Keys.ENTER)
        assert panel.is_displayed() and "proved for all sizes" in panel.text
        assert len(panel.find_elements(By.TAG_NAME, "math")) == 2
        assert panel.find_element(By.TAG_NAME, "math").size["height"] > 10
        webdriver.ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        assert not panel.is_displayed()
        assert browser.execute_script("return document.activeElement === arguments[0]", link)


def test_a_step_of_a_proof_leads_to_the_relation_it_rests_on(browser, pages):
    opened(browser, pages["same"])
    link = next(part for part in browser.find_elements(By.CSS_SELECTOR, "details.band a.tie")
                if part.get_dom_attribute("aria-label").startswith("mul.Tensor = mul.Tensor"))
    browser.execute_script("arguments[0].closest('details').open = true; arguments[0].focus()", link)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    panel, title = browser.find_element(By.ID, "panel"), browser.find_element(By.ID, "panel-title")
    assert title.text.startswith("mul.Tensor =") and "both sides hold what the claim starts from" in panel.text
    panel.find_element(By.PARTIAL_LINK_TEXT, "linear = getitem").click()
    assert title.text.startswith("linear = split") and panel.is_displayed()
    webdriver.ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert browser.execute_script("return document.activeElement === arguments[0]", link)


def test_search_and_fold(browser, pages):
    opened(browser, pages["same"])
    every = len(shown(browser, "details.relation"))
    field = browser.find_element(By.ID, "search")
    for words, found in (("layer_norm", 1), ("no such thing", 0), ("", every)):
        field.clear()
        field.send_keys(words or "x", *([] if words else [Keys.BACKSPACE]))
        assert len(shown(browser, "details.relation")) == found
    buttons = browser.find_elements(By.CSS_SELECTOR, "button[data-fold]")
    for button, number in zip(buttons, (len(shown(browser, "details.band")), 0), strict=True):
        button.click()
        assert len(browser.find_elements(By.CSS_SELECTOR, "details.band[open]")) == number


def chosen(browser, words):
    """Choose a state of those that the page can be filtered by."""
    button = browser.find_element(By.XPATH, f"//button[@data-only][.='{words}']")
    button.click()
    assert button.get_dom_attribute("aria-pressed") == "true"


def test_a_suite_is_filtered_by_what_came_of_its_entries(browser, pages):
    opened(browser, pages["suite"])
    for words, rows in (("as expected", 1), ("not as expected", 1), ("undecided", 1), ("all", 3)):
        chosen(browser, words)
        assert len(shown(browser, "tbody tr")) == len(shown(browser, "details.relation")) == rows
    browser.find_element(By.ID, "search").send_keys("wrong")
    assert len(shown(browser, "tbody tr")) == 1
    browser.find_element(By.CSS_SELECTOR, "tbody tr:not(.miss) a").click()
    assert "the line that is meant" in shown(browser, "details[open] .meant")[0].text


def test_a_sweep_is_filtered_by_outcome(browser, pages):
    opened(browser, pages["sweep"])
    assert len(shown(browser, "tr[data-search]")) == 2
    chosen(browser, "different")
    assert len(shown(browser, "tr[data-search]")) == len(shown(browser, "details.relation")) == 1
    chosen(browser, "all")
    browser.find_element(By.ID, "search").send_keys("silu")
    assert len(shown(browser, "tr[data-search]")) == 1


def test_a_cell_of_a_sweep_opens_its_probe(browser, pages):
    opened(browser, pages["sweep"])
    cell = browser.find_element(By.CSS_SELECTOR, "a.probe[href='#probe-2']")
    browser.execute_script("arguments[0].focus()", cell)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    WebDriverWait(browser, 20).until(lambda _: browser.find_element(By.ID, "probe-2").get_attribute("open") is not None)


def test_lanes_are_searched(browser, pages):
    opened(browser, pages["refine"])
    every = len(shown(browser, "tr.relation"))
    field = browser.find_element(By.ID, "search")
    field.send_keys("no such thing")
    assert every > 3 and not shown(browser, "tr.relation")
    field.clear()
    field.send_keys("x", Keys.BACKSPACE)
    assert len(shown(browser, "tr.relation")) == every


@pytest.mark.parametrize("width", [400, 1200])
def test_badges_beside_long_lines_of_a_kernel_are_in_sight_and_lead_to_what_is_said(browser, pages, width):
    opened(browser, pages["lift"], width=width)
    badges = shown(browser, "pre.source a.chip")
    source = browser.find_element(By.CSS_SELECTOR, "pre.source").rect
    assert len(badges) == 3
    assert all(badge.rect["x"] + badge.rect["width"] <= source["x"] + source["width"] for badge in badges)
    browser.execute_script("arguments[0].focus()", badges[0])
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert "an access leaves its tensor" in browser.find_element(By.CSS_SELECTOR, ":target").text


def test_numbers_of_the_map_are_struck_through_by_no_line(browser, pages):
    """Each stands on its own line, which it interrupts, above all lines of its row."""
    opened(browser, pages["same"])
    for row in browser.find_elements(By.CSS_SELECTOR, ".map a.row"):
        drawn = [part.tag_name for part in row.find_elements(By.CSS_SELECTOR, "path.line, text.count")]
        assert drawn == sorted(drawn)
    for number in browser.find_elements(By.CSS_SELECTOR, ".map text.count"):
        assert number.value_of_css_property("paint-order").startswith("stroke")
        assert number.value_of_css_property("stroke") != "none"


def test_findings_are_filtered_and_folded(browser, pages):
    opened(browser, pages["fuzz"])
    assert len(shown(browser, "#faults>section")) == 2 and len(shown(browser, "details.relation[open]")) == 1
    chosen(browser, "crash")
    assert len(shown(browser, "#faults>section")) == 1 and not shown(browser, "details.relation[open]")
    browser.find_element(By.CSS_SELECTOR, "button[data-fold=open]").click()
    assert "def program(x):" in shown(browser, "details.relation .source")[0].text


def test_an_answer_for_two_of_several_opens_their_report(browser, pages):
    opened(browser, pages["several"])
    report = browser.find_element(By.ID, "pair-1")
    assert report.get_attribute("open") is None
    browser.find_element(By.CSS_SELECTOR, "a[href='#pair-1']").click()
    WebDriverWait(browser, 20).until(lambda _: report.get_attribute("open") is not None)
    browser.execute_script("document.querySelector('#pair-1-band-2').open = true")
    link = browser.find_element(By.CSS_SELECTOR, "#pair-1-band-2 a.tie")
    browser.execute_script("arguments[0].focus()", link)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    panel = browser.find_element(By.ID, "panel")
    assert panel.is_displayed() and "proved for all sizes" in panel.text


def test_a_link_of_the_map_opens_its_band(browser, pages):
    opened(browser, pages["same"])
    row = browser.find_elements(By.CSS_SELECTOR, "a.row")[1]
    browser.execute_script("arguments[0].focus()", row)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    band = browser.find_element(By.ID, row.get_dom_attribute("href").split("#")[1])
    WebDriverWait(browser, 20).until(lambda _: band.get_attribute("open") is not None)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_it_can_be_read_on_a_phone_in_light_and_dark(browser, pages, name, dark):
    opened(browser, pages[name], width=400, dark=dark)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    faint = browser.execute_script(CONTRAST)
    assert not faint, faint


CONTRAST = """
const light = c => {
  const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const colour = text => text.match(/[\\d.]+/g).map(Number);
const ground = part => {
  for (; part; part = part.parentElement) {
    const c = colour(getComputedStyle(part).backgroundColor);
    if (c.length < 4 || c[3] > .99) return c.slice(0, 3);
  }
  return [255, 255, 255];
};
const texts = "h1 *, h2, p, td, summary, summary *, a, dt, dd, label, button, pre span";
return [...document.querySelectorAll(texts)]
  .filter(part => part.offsetParent && part.textContent.trim() && !(part instanceof SVGElement))
  .map(part => {
    const ink = light(colour(getComputedStyle(part).color).slice(0, 3));
    const [a, b] = [ink, light(ground(part))].sort((x, y) => y - x);
    return [(a + .05) / (b + .05), part.outerHTML.slice(0, 80)];
  })
  .filter(found => found[0] < 4.5);
"""


FOLDED = """
const texts = [];
for (const fold of document.querySelectorAll("details:not(.stays, .stays *)")) {
  const walk = document.createTreeWalker(fold, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    if (!walk.currentNode.parentElement.closest("title, math, button, .stays")) texts.push(walk.currentNode.data);
}
return texts.join(" ");
"""


def printed(browser):
    """All text of the page as it is printed, without spaces."""
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True).stdout.decode()
    else:
        pypdf = pytest.importorskip("pypdf", reason="neither pdftotext nor pypdf is installed")
        text = "".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)
    return "".join(text.split())


@pytest.mark.parametrize("name", [name for name in PAGES if name != "nasty"])
def test_it_is_printed_with_everything_unfolded(browser, pages, name):
    """All but the list of relations, which would be many pages."""
    opened(browser, pages[name])
    folded = set(re.findall("[A-Za-z]{4,}", browser.execute_script(FOLDED)))
    assert folded or name in ("refine", "gguf")
    told = printed(browser)
    assert not {word for word in folded if word not in told}
    assert not browser.find_elements(By.CSS_SELECTOR, "details.stays[open]")


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_can_be_used_has_a_name(browser, pages, name):
    opened(browser, pages[name])
    nameless = browser.execute_script("""
      return [...document.querySelectorAll("button, a, input, svg[role], [role=group], dialog, section")].filter(part =>
        !part.getAttribute("aria-label") && !part.getAttribute("aria-labelledby") && !part.textContent.trim()
        && !(part.id && document.querySelector(`label[for=${part.id}]`))).map(part => part.outerHTML.slice(0, 80))""")
    assert nameless == []
