"""torch.compile with Inductor: C++ on a CPU, Triton on a GPU; one back end for each setting that makes other code."""

from samesame.fuzz.backends.backend import Backend

SETTINGS = {
    "inductor": "",
    "inductor-dynamic": "dynamic=True",
    "inductor-cpp-wrapper": 'options={"cpp_wrapper": True}',
    "inductor-max-autotune": 'options={"max_autotune": True}',
    "inductor-freezing": 'options={"freezing": True}',
    "inductor-scalar": 'options={"cpp.simdlen": 1}',
    "inductor-precise": 'options={"emulate_precision_casts": True}',
}
PRECISE = '"emulate_precision_casts": True'


def _precise(setting: str) -> str:
    """The setting with one more option."""
    if "options" in setting:
        return setting.replace("{", f"{{{PRECISE}, ")
    return ", ".join(filter(None, (setting, f"options={{{PRECISE}}}")))


def _text(setting: str) -> str:
    return f"compiled = torch.compile({', '.join(filter(None, ('program', setting)))})"


BACKENDS = tuple(Backend(name, "inductor", _text(s), precise=_text(_precise(s))) for name, s in SETTINGS.items())
