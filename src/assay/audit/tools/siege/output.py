"""siege's report, as text and as the JSON that it prints since 4.1: https://github.com/JoeDog/siege."""

from assay.audit.tools.pattern import N, Pattern

CUES = ("Transactions:", '"transactions"', "Transaction rate:", "Elapsed time:")
START = r"Transactions:\s+\d|\"transactions\":|Transaction rate:\s+\d|Elapsed time:\s+[\d.]+ secs"


def _line(text: str, json: str, name: str) -> tuple[Pattern, Pattern]:
    group = rf"(?P<{name}>{N})"
    return Pattern(text, rf"{text}:\s+{group}"), Pattern(f'"{json}"', rf'"{json}":\s+{group}')


PATTERNS = (
    *_line("Transactions", "transactions", "requests__c"),
    *_line("Elapsed time", "elapsed_time", "took__s"),
    *_line("Response time", "response_time", "mean__s"),
    Pattern("Response time", rf"Response time:\s+(?P<mean__ms>{N}) ms"),
    *_line("Transaction rate", "transaction_rate", "rate__n"),
    *_line("Concurrency", "concurrency", "in_flight__n"),
    *_line("Failed transactions", "failed_transactions", "failed__c"),
    *_line("Longest transaction", "longest_transaction", "max__s"),
    *_line("Shortest transaction", "shortest_transaction", "min__s"),
)
