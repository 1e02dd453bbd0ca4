"""oha's report, whose first line tells it from hey's: https://github.com/hatoo/oha/blob/master/src/printer.rs."""

from assay.audit.tools.pattern import B, N, Pattern, T

CUES = ("Success rate:",)
START = r"Success rate:\s+[\d.]+\s?%?"

PATTERNS = (
    Pattern("Total:", rf"Total:\s+(?P<took__t>{T})"),
    Pattern("Slowest:", rf"Slowest:\s+(?P<max__t>{T})"),
    Pattern("Fastest:", rf"Fastest:\s+(?P<min__t>{T})"),
    Pattern("Average:", rf"Average:\s+(?P<mean__t>{T})"),
    Pattern("Requests/sec", rf"Requests/sec:\s+(?P<rate__n>{N})"),
    Pattern("Total data", rf"Total data:\s+(?P<bytes__b>{B})"),
    Pattern("% in", rf"(?P<q>\d{{1,2}}(?:\.\d{{1,4}})?)% in (?P<at__t>{T})"),
    Pattern("responses", r"\[[23]\d\d\]\s+(?P<good__c>\d{1,15}) responses"),
    Pattern("responses", r"\[[145]\d\d\]\s+(?P<bad__c>\d{1,15}) responses"),
    Pattern("[", r"^\s{0,12}\[(?P<broken__c>\d{1,15})\]\s+(?!\d+ responses|aborted due)[A-Za-z]"),
)
