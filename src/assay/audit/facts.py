"""What a text says about how it measured: machine, versions, repetitions, where the client ran."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from assay.audit.document import TextBlock, TextDocument
from assay.audit.tools import BY_NAME, NAMED, named

_INSTANCE = (
    r"\b(?:[acdghimprtxz]\d{1,2}[a-z]{0,4}[.-](?:nano|micro|small|medium|x?large|\d{1,2}xlarge|metal\w*)"
    r"|[nec]\d[a-z]?-(?:standard|highcpu|highmem|micro|medium)-?\d*|standard_[a-z]\d+\w*|cx\d\d"
    r"|cpx\d\d|ccx\d\d)\b"
)
MACHINE = re.compile(
    r"\b(?:intel|amd|xeon|ryzen|epyc|threadripper|opteron|pentium|celeron|core\s?(?:\(tm\)"
    r"|™)?\s?(?:i\d|duo|ultra|2)|i[3579][- ]\d{3,5}\w*"
    r"|i[3579]\b|apple\s(?:silicon|m\d)|m[1-5]\s(?:pro|max|ultra|chip|mac)|mac\s?os\s\(?m[1-5]|cpu\W{1,6}m[1-5]|macbook|mac\s?(?:mini|pro"
    r"|studio|book)|imac|raspberry\s?pi|graviton\d?|thinkpad"
    r"|neoverse|cortex|ampere|\d{1,4}\s?[mg]b\s(?:[\w.]{1,12}\s)?(?:droplet|instance|vps|vm|linode"
    r"|slice|dyno)"
    r"|(?:standard|performance|basic|hobby)-\w{1,3}\sdyno"
    r"|\d{1,3}(?:\.\d+)?\s?ghz|\d{1,3}(?:[- ]|\s?[x×]\s)?(?:v?cpus?"
    r"|(?:physical |logical |virtual |hyper)?-?cores?"
    r"|threads cpu|vcores?)"
    r"|(?:two|dual|quad|four|six|eight|hexa|octa)[- ]?(?:core|cpu|vcpu)s?"
    r"|cpu\s?:\s{0,4}(?=\w)(?![\d.]{1,6}\s?%)"
    r"|processor\s?:\s{0,4}(?=\w)|processor name|\d{1,4}\s?gi?b\s(?:of\s)?(?:ram|memory|ddr)"
    r"|ram\s?:\s{0,4}(?=\w)"
    r"|\d{1,3}\s?(?:kerne|núcleos|cœurs|ядер|ядра)|\d{1,3}c\s?\d{1,4}g|dell"
    r"|lenovo|poweredge|proliant|supermicro|laptop with)\b"
    r"|\d{1,3}\s?(?:核|コア)|处理器|" + _INSTANCE,
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?<![\w.,$€£])(?:(?<!/)v\d{1,4}(?![.]\d)|v\d{1,4}(?:\.\d{1,6}){1,3}"
    r"|\d{1,3}\.\d{1,4}\.\d{1,6}(?!\.\d)(?:[-.+]?(?:rc"
    r"|beta|alpha|snapshot|final|preview|dev|p)[\w.]{0,12})?)\b"
    r"|\bgo1\.\d{1,2}\b|\b(?:php|python|ruby|node|java)\d{1,2}\.\d"
    r"|\b(?:version|release|commit|revision|node(?:\.?js)?|python|ruby|php|go|golang|java|jdk"
    r"|openjdk|rust|rustc|elixir|erlang|otp|nginx|\.net|dotnet"
    r"|django|rails|express|spring(?: boot)?|kotlin|scala|haskell|ghc|perl|bun|deno"
    r"|pypy)[\s:=/@`_-]{1,3}v?(?:\d{1,3}(?:\.\d{1,4}){1,3}|\d{1,2}\b(?![.,]\d|\s?(?:req|ms|%|k\b"
    r"|times|[x×]\b|s\b|sec|min|hour|day|core|cpu|thread|worker|process|connection|server|service|client)))",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"\b(?=[a-f]{0,39}\d)[0-9a-f]{40}\b|[(@]\s?(?=[a-f]{0,11}\d)[0-9a-f]{7,12}\s?\)?(?!\w)")
_DATE = re.compile(
    r"\b(?:20[012]\d-[01]?\d-[0-3]?\d(?=T|\b)|20[012]\d/[01]?\d/[0-3]?\d|[0-3]?\d[./][01]?\d[./]20[012]\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?:\s[0-3]?\d(?:st|nd|rd"
    r"|th)?,?)?\s20[012]\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s{1,2}\d{1,2}\s\d\d:\d\d:\d\d(?:\s\w{2,5})?"
    r"\s20[012]\d|20[012]\d年\d{1,2}月)(?=T|\b|\d|年)",
    re.IGNORECASE,
)
_COUNT = r"(?P<n>\d{1,5}|one|two|three|four|five|six|seven|eight|nine|ten|several|multiple)"
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {word: number for number, word in enumerate(_COUNTED, 1)}
_RUN = (
    r"(?:\bruns?\b|\btimes\b|\btrials?\b|\biterations?\b|\brepetitions?\b|\brounds?\b|\battempts?\b"
    r"|\bpasses\b)"
)
_RUNS = (
    re.compile(
        rf"\b(?:average|avg|mean|median|averaged|averages?)\s(?:result\s)?(?:of|over|from"
        rf"|across)\s(?:the\s)?(?:\w+\s)?{_COUNT}\s(?:\w+\s){{0,2}}?{_RUN}",
        re.I,
    ),
    re.compile(
        rf"\b(?P<best>(?:best|fastest)\s(?:out\s)?of\s(?:the\s)?(?=\w{{1,5}}\b)(?!\d{{3}})"
        rf"|(?:best|fastest|highest|max(?:imum)?)\s(?:result\s|run\s|score\s|time\s)?(?:out\s)?(?:of"
        rf"|from|over)"
        rf"\s(?:the\s)?(?=\w{{1,8}}\s(?:\w+\s){{0,2}}?{_RUN})){_COUNT}\b",
        re.I,
    ),
    re.compile(
        rf"\b(?:ran|run|repeated|executed|performed|tested|measured|benchmarked"
        rf"|done)\s(?:\w+\s){{0,6}}?{_COUNT}\s(?:times|runs|tries)\b"
        r"(?!\s(?:faster|slower|more|less|better|higher|as|the|quicker|fewer))",
        re.I,
    ),
    re.compile(rf"\b{_COUNT}\s(?:measured|timed)\s(?:samples|rounds|passes|iterations|runs)\b", re.I),
    re.compile(
        rf"\b{_COUNT}\s(?:consecutive\s|separate\s|independent\s|different\s|test\s"
        rf"|benchmark\s)?(?:runs|trials|repetitions)\b",
        re.I,
    ),
    re.compile(
        rf"\b{_COUNT}\s(?:iterations|rounds|passes)\sof\s(?:the\s|each\s|every\s)?(?:benchmark|test"
        rf"|measurement)",
        re.I,
    ),
    re.compile(
        r"(?:https?://\S{1,200}|\blocalhost\S{0,80})\s?[`\"']?\s?[*×x]\s?(?P<n>\d{1,2})\b(?!\d|\s?[a-z/])"
    ),
    re.compile(
        r"\b(?:ran|run|repeated|executed|performed|tested|measured|benchmarked"
        r"|done)\s(?:\w+\s){0,4}?(?P<twice>twice)\b",
        re.I,
    ),
    re.compile(
        r"\b(?P<once>(?:just|only) (?:a )?(?:one|single)[- ](?:time )?(?:try|test|run)\b"
        r"|(?:just|only) one time\b|one to measure\b|taking the (?:second|last|third)\b"
        r"|second (?:run|average) (?:is"
        r"|was) taken\b|(?:a |one )?single run\b|ran (?:it |them "
        r"|each )?(?:only )?once\b|run (?:only )?once\b|one run (?:each|per|only))",
        re.I,
    ),
    re.compile(
        r"\b(?P<best>(?:(?:i|we) )?(?:took|take|taking|pick(?:ed|ing)?|report(?:ed|ing)?|cho(?:se"
        r"|osing)|kept|keep(?:ing)?"
        r"|show(?:n|ing)?|using|used|select(?:ed|ing)?|record(?:ed|ing)?)\s(?:only )?(?:the |our "
        r"|my )?(?:single )?"
        r"(?:best|fastest|highest))(?: (?:run|result|score|value|of|lap|one|number|time|figure"
        r"|attempt)|[.,)])"
        r"|\b(?P<chosen>best)\s(?:(?:one|run|result|score|time|number)s?\s)?(?:out\s)?(?:of\s(?:them|these|those"
        r"|the\s\w+)\s)?(?:is|was|were|are|being)\s(?:chosen|taken|used|kept|reported|shown|picked|selected)",
        re.I,
    ),
)
_REPEATED = re.compile(
    r"\b(?:averag(?:e|ed|ing)|median|mean)\s(?:of|over|across)\s(?:\w+\s){0,3}(?:runs|tests|trials)"
    r"|\btaking the (?:average|median|mean)\b"
    r"|(?:multiple|several) runs\b"
    r"|(?:ran|run|running|repeat\w*|test\w*|measur\w*|execut\w*|perform\w*|bench\w*|did|tried)\s(?:\S+\s){0,6}?"
    r"(?:multiple|several) times\b(?!\s(?:faster|slower|more|less|better|higher|as|the))"
    r"|repeated (?:the |each |every |all |this |these )?(?:tests?|benchmarks?|measurements?"
    r"|runs?|several|multiple|\d)",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"\b(?:on|from|using)\s(?:the\s|my\s)?(?:very\s)?(?:same|one"
    r"|a single)\s(?:[\w.-]{1,20}\s){0,3}?(?:machine"
    r"|host|box|computer|laptop|server|instance|system|node|vm|vps|droplet|pc|macbook)\b"
    r"|\bnot (?:\w+ ){0,3}(?:on|from) (?:different|separate|two) (?:machines|hosts|boxes|computers)\b"
    r"|\bboth (?:\w+ ){0,4}(?:on|from) (?:my|the|a|one) (?:local |own )?(?:machine|laptop|box|computer)\b"
    r"|\bsame (?:machine|host|box|computer|laptop|vm|instance) as\b|\b(?:run|ran|running|tested"
    r"|benchmarked|measured|executed|performed)\slocally\b|\bover (?:the )?(?:loopback|localhost)\b"
    r"|\blocalhost (?:testing|benchmark|only)|\bon (?:my |the )?(?:localhost|local machine|own machine)\b"
    r"|\b(?:everything|all of (?:this|it|them)|all (?:the )?(?:tests|benchmarks)) (?:was |were |is "
    r"|are )?(?:ran |run |running |"
    r"done |executed )?(?:locally|on localhost)\b|\bsingle machine\b",
    re.IGNORECASE,
)
_LOADER = re.compile(
    r"\b(?:client|load generator|wrk|ab|hey|bombardier|autocannon|k6|oha|benchmark(?:ing)? tool"
    r"|load tester|locust|tester)\b",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\b(?:not|separate|different|another|(?<!per )second|dedicated|two|n't)\b", re.IGNORECASE
)
_CORE_WORDS = {"dual": 2, "two": 2, "quad": 4, "four": 4, "six": 6, "hexa": 6, "eight": 8, "octa": 8}
_MORE_CORES = re.compile(
    r"\b(?P<word>dual|two|quad|four|six|hexa|eight|octa)[- ]?(?:core|cpu)s?\b"
    r"|(?<!--)\b(?:v?cpus?|cores?)(?:\(s\))?\s?[:=|]\s{0,4}(?P<count>\d{1,3})\b(?!\s?(?:%|[.,]\d|[gm]hz))"
    r"|\b(?:number of (?:cpu )?cores|cpu count|core count|hw\.(?:n|logical|physical)cpu|nproc"
    r"|numcpu)\W{1,8}(?P<told>\d{1,3})\b"
    r"|\bcpus? (?:available|count|total)\s?:\s{0,4}(?P<counted>\d{1,3})\b"
    r"|\((?P<fetched>\d{1,3})\)\s?@\s?\d"
    r"|[gm]hz\)?,?\s?[x×*]\s?(?P<times>\d{1,3})\b"
    r"|\b(?P<duo>core\s?(?:\(tm\)|™)?\s?2\s?duo)\b|\b(?P<quad>core\s?(?:\(tm\)|™)?\s?2\s?quad)\b"
    r"|\b(?P<one>(?:single|one|1)[- ](?:core|cpu|vcpu)\s(?:machine|vm|vps|droplet|instance|server|box|host))",
    re.IGNORECASE,
)
_CORES = re.compile(
    r"(?<!i[3579][- ])(?<!ryzen )\b(?P<n>\d{1,3})(?:[- ]|\s?[x×]\s)?"
    r"(?:(?:physical|logical|virtual|hyper-?threaded|cpu|processor) )?"
    r"(?:v?cpus?|cores?|vcores?|processors|hardware threads)\b(?!\s?(?:gpu|neural))"
    r"|\b(?P<many>\d{1,3})\s?(?:核|c\s?/\s?\d{1,3}\s?t\b)",
    re.IGNORECASE,
)
_SPREAD = re.compile(
    r"±|(?<!\[)\+/-(?! Stdev)|confidence interval|variance between"
    r"|standard deviation (?:of|across|between|over) (?:\w+ ){0,3}(?:runs|rounds|trials|samples)",
    re.IGNORECASE,
)


MOST = 2**20
"""Characters in which facts are looked for; of a longer text nothing is said to be missing."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of the text, where they stand, and the number in them if there is one."""

    line: int
    quote: str
    number: float = 0.0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text; None or empty where it does not say. `whole`: all of it was looked at."""

    machine: Mention | None
    version: Mention | None
    runs: tuple[Mention, ...]
    repeated: bool
    spread: bool
    same_machine: Mention | None
    cores: tuple[Mention, ...]
    tools: frozenset[str]
    tool_named: bool
    whole: bool


def facts(document: TextDocument) -> Facts:
    """Look once through all text of a document."""
    machine = version = same = None
    runs: list[Mention] = []
    cores: list[Mention] = []
    tools: set[str] = set()
    tool_named = repeated = spread = False
    texts = _texts(document)
    lengths = list(accumulate(len(text) for _, text, _ in texts))
    read = bisect_right(lengths, MOST)
    whole = read == len(texts) and not document.cut
    for number, text, is_code in texts[:read]:
        machine = machine or _first(MACHINE, number, text)
        version = version or _version(number, text) or _first(_DATE, number, text)
        version = version or _first(_COMMIT, number, text)
        spread = spread or (not is_code and _SPREAD.search(text) is not None)
        for found in NAMED.finditer(text.replace("assay ", "assay /")):  # `assay ab` is not ab
            tool_named = True
            tools.add(named(found[0]))
        cores += [
            Mention(number, found[0], float(found["n"] or found["many"])) for found in _CORES.finditer(text)
        ]
        cores += [Mention(number, found[0], _cores(found)) for found in _MORE_CORES.finditer(text)]
        if not is_code or re.match(r"\s*(?:#|//|;)", text):
            # A whole paragraph comes after its lines: what one of them says is told there.
            runs += [
                said for said in _runs(number, text) if not any(said.quote in one.quote for one in runs[-8:])
            ]
            repeated = repeated or _REPEATED.search(text) is not None
        if not is_code:
            same = same or _together(number, text)
    return Facts(
        machine,
        version,
        tuple(runs),
        repeated,
        spread,
        same,
        tuple(cores),
        frozenset(tools),
        tool_named,
        whole,
    )


def _texts(document: TextDocument) -> list[tuple[int, str, bool]]:
    found: list[tuple[int, str, bool]] = []
    for part in document.parts:
        if isinstance(part, TextBlock):
            found += [(line.number, line.text, part.kind == "code") for line in part.lines]
            if part.kind == "prose" and 1 < len(part.lines) < 40:
                found.append((part.lines[0].number, part.text, False))
        else:
            found.append((part.number, " | ".join(part.head), False))
            found += [(row.number, " | ".join(row.cells), False) for row in part.rows[:500]]
    return found


def _cores(found: re.Match[str]) -> float:
    if found["word"]:
        return float(_CORE_WORDS[found["word"].lower()])
    for name, cores in (("one", 1.0), ("duo", 2.0), ("quad", 4.0)):
        if found[name]:
            return cores
    return float(found["count"] or found["counted"] or found["times"] or found["told"] or found["fetched"])


def _first(pattern: re.Pattern[str], number: int, text: str) -> Mention | None:
    found = pattern.search(text)
    return Mention(number, found[0]) if found else None


def _version(number: int, text: str) -> Mention | None:
    """A version that something had, not one that it requires."""
    for found in _VERSION.finditer(text):
        before = text[max(found.start() - 30, 0) : found.start()]
        if _OTHERS.search(before):
            continue
        if "ApacheBench" not in text and not _REQUIRED.search(
            before + text[found.start() : found.end() + 20]
        ):
            return Mention(number, found[0])
    return None


_OTHERS = re.compile(
    r"(?:\bmac\s?os(?: x)?|\bos ?x|ubuntu|debian|linux|kernel|darwin|windows|centos|fedora|alpine"
    r"|docker|\bwsl|\bbash|\bzsh|\bgcc|\bclang|\bmake"
    r"|\bwrk2?|\bhey|\boha|bombardier|autocannon|vegeta|h2load|\bk6|siege|jmeter|gatling|locust|artillery)"
    r"(?:[\s:(@/-]|version|kernel|server|v){0,12}$",
    re.IGNORECASE,
)
"""What stands before the version of a system or of the load tool, which is none of what is compared."""
_REQUIRED = re.compile(
    r"or (?:higher|later|newer|above)|at least|requires?\b|required|minimum|>=|≥|\d\+", re.IGNORECASE
)


_WARM_UP = re.compile(r"warm", re.IGNORECASE)


def _runs(number: int, text: str) -> list[Mention]:
    if not re.search(
        r"run|times|trial|best|average|median|mean|iteration|round|repet|twice|taking|taken|\s[*×]\s?\d",
        text,
        re.IGNORECASE,
    ):
        return []
    said: list[Mention] = []
    for pattern in _RUNS:
        found = pattern.search(text)
        if not found or _WARM_UP.search(found[0]):
            continue
        if any(one.quote in found[0] or found[0] in one.quote for one in said):
            continue
        groups = found.groupdict()
        count = groups.get("n") or ""
        value = float(count) if count.isdigit() else float(_WORDS.get(count.lower(), 0))
        if groups.get("once"):
            value = 1.0
        if groups.get("twice"):
            value = 2.0
        said.append(
            Mention(number, found[0], value, "best" if groups.get("best") or groups.get("chosen") else "")
        )
    return said


def _together(number: int, text: str) -> Mention | None:
    found = _SAME.search(text)
    if not found:
        return None
    if found[0].lower().startswith("not "):
        return Mention(number, found[0])
    around = text[max(found.start() - 160, 0) : found.end() + 160]
    if _APART.search(text[max(found.start() - 30, 0) : found.start()]):
        return None
    return Mention(number, found[0]) if _LOADER.search(around) else None


def known_tools(seen: Facts) -> set[str]:
    """The names of the tools that we know and the text names."""
    return {BY_NAME[name].name for name in seen.tools if name in BY_NAME}
