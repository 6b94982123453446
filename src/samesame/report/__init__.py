"""Reports: a verdict for people (`terminal`) and for machines (`json`). They decide nothing."""

from samesame.report.json import dumps, require_writable, to_json, write, write_certificate
from samesame.report.several import dumps_several, print_several, several_text, write_several
from samesame.report.terminal import headline, plain_text, print_report, render

__all__ = ["dumps", "dumps_several", "headline", "plain_text", "print_report", "print_several", "render",
           "require_writable", "several_text", "to_json", "write", "write_certificate", "write_several"]
