"""Reports: a verdict for people (`terminal`) and for machines (`json`). They decide nothing."""

from samesame.report.json import dumps, require_writable, to_json, write, write_certificate
from samesame.report.terminal import headline, plain_text, print_report, render

__all__ = ["dumps", "headline", "plain_text", "print_report", "render", "require_writable", "to_json", "write",
           "write_certificate"]
