"""Every sentence of a study's page, as a template: the one place to change them."""

from __future__ import annotations

STUDY = (
    "The study is [`studies/{name}.toml`](../../studies/{name}.toml): its question, servers, loads, "
    "published figures and claims. Absolute figures belong to the machine that is named with them."
)
WRITTEN = "<!-- Written by `make studies-pages` from {name}.json. -->"
LESSONS = "Lessons"
PROFILES = {"fair": "The fair profile", "published": "The published profile"}
TITLES = {
    "results": "Results",
    "response": "Response times",
    "capacity": "Capacity",
    "services": "Services",
    "missing": "Not measured",
    "claims": "Published claims",
    "findings": "Findings",
    "published": "As published",
    "servers": "Servers",
    "trials": "Every trial",
    "how": "How it was measured",
}

# The answer. `{ratio}` is "1.61× [1.58, 1.64]".
FASTEST = "{faster} is fastest: {ratio} {slower}."
FASTEST_ALONE = "{server} is fastest, with {rate}."
NEXT = "{faster} is {ratio} {slower}."
SHARED = "{servers} share rank 1: no difference was shown{limits}."
MANY = "{count} rows"
BY_ITSELF = "By itself {faster} is {ratio} {slower}; over all pairs (Holm) that is not shown."
SERVES = "{server} serves {rate}{limits}."
NO_RANKING = "No ranking."
NO_RANKING_BY = "No ranking ({rules})."
NOT_RANKED = "Not ranked: {servers} ({rules})."
NO_RESULT = "Nothing was measured that may be shown."

CI = (
    "95 % CI of each ratio, paired over {blocks}; Holm covers each shown difference; effects below {effect} "
    "are not reported."
)
CLEAN = "No rule found anything above a note."
NOT_CLEAN = "Not clean: {counts}."
LIMITS = "Throughputs are bounds by {rules}."
CONTROL = "A/A difference of {server}: {change}."
WIDEST = (
    "Widest interval: {pair}{half}. It deviates by {within} from round to round (blocks of {rounds}) and by "
    "{between} from block to block. {more}"
)
MORE_BLOCKS = "For ± 1 %: about {blocks} more blocks."
NEVER = "No number of blocks would bring it to ± 1 %."
SCALING = (
    "{server} scales with {contention} contention and {coherency} coherency (Universal Scalability Law, "
    "residual {residual}); {peak}."
)
PEAK = "its peak is {peak} at about {connections} connections"
NO_PEAK = "it has no peak up to {up_to} connections"
THRESHOLD = "{code} ({title}): {name} {value} instead of {usual}. Reason: {reason}."

# Below tables.
SERVICE_TIMES = "p50 and p99 are service times of a closed loop, with the queue that the client makes."
RESPONSE_TIMES = "p50 and p99 are response times: {loads}."
RESPONSE_TIMES_ALL = "p50 and p99 are response times."
OVER_LINK = "Over a link ({link}): {loads}."
CPU = "CPU is the share of the server's cores."
APART = "Rows without a rank do not compete."
OPEN_LOOP = (
    "Open loop, Poisson arrivals. p50 and p99 are response times, from the intended start of each request."
)
BOUNDS_OF_TIMES = "Times are bounds by {rules}: {servers}."
WIDE = "Wide: trials differ too much for a bound; the mean is shown, with the least and the most."
CAPACITY = "The highest rate at which the objective held, searched by open loops with Poisson arrivals."
SERVICES = (
    "CPU is the share of the servers' cores that the service took. Memory is its peak, with pages that "
    "processes share in proportion (\\*: counted for each)."
)
VERSION = "{service}: {version}."
MISSING = "{server}: {reason}."

# Claims: `why` there is no verdict, or how a verdict was reached.
WHY = {
    "": "",
    "no result": "the two figures are no results",
    "bounded": "bounds on both sides leave it open",
    "not measured": "{missing} was not measured",
    "not compared": "this profile does not measure it",
}
WITHIN = "equal is within {within}×"
PARTS = "{counts} of {all}"

# Findings. What one does to figures, after its meaning.
FINDINGS = (
    "What to do about a finding, and the source of its rule: `assay explain CODE` or "
    "[its page](../method/rules/README.md). Figures are those of the worst trial."
)
RULE = "**{code} {severity}: {title}.**{meaning}{effect}"
EFFECT = " *Effect:* {effects}."
ON_THROUGHPUT = {
    "none": "",
    "void": "throughput is invalid",
    "at least": "throughput is a lower bound",
    "at most": "throughput is an upper bound",
    "wider": "the interval is widened",
    "one way": "throughput holds in one direction",
}
AT_MOST = "at most {times}× as much"
ON_TIMES = {"none": "", "void": "no times are shown", "at least": "times are lower bounds"}
ON_COMPARISON = {
    None: "",
    "none": "paired ratios hold",
    "at least": "paired ratios are lower bounds",
    "void": "the two are not compared",
    "wider": "the ratio is widened",
    "one way": "the ratio holds in one direction: {way}",
}
SEEN = "{words}: {about}"
EVERY = "every trial"
OF_TRIALS = "{trials} trials"
MORE = "and {more} more, in the record"

# How it was measured: (what, how).
RUN = "{study}, profile {profile}{quick}, {blocks} of {cases} cases, seed {seed}, {date} UTC"
QUICK = " (quick)"
INTERLEAVED = "blocks with all servers alive, their slices in balanced random order"
SEQUENTIAL = "blocks with every case once, in random order; a fresh process for each trial"
SLICES = (
    "{load}{blocks} of {servers} servers; slices of {length}{why}, washout {washout}; {each} a server "
    "and block{trimmed}"
)
TRIMMED = "; ratios without the first fifth of each slice"
WARM_UP = "{least} to {most} of load; {steady} of {trials} trials were steady by then"
HOW = {
    "run": "run",
    "order": "order",
    "slices": "slices",
    "load": "load",
    "warm-up": "warm-up",
    "link": "link",
    "machine": "machine",
    "versions": "versions",
    "commit": "commit",
    "descriptors": "descriptors",
    "record": "record",
    "command": "command",
}

TRIAL = ("server", "block", "throughput", "mean", "p50", "p90", "p99", "max", "failed")

LEFT = frozenset(
    [
        "claim",
        "rules",
        "why",
        "server",
        "load",
        "service",
        "variant",
        "version",
        "note",
        "findings",
        "verdict",
    ]
)
"""Heads of columns that hold words; all others hold figures, and stand to the right."""

GONE = {"G2": "the generator stalled", "G5": "close to the generator's ceiling"}
"""Titles of rules that stored runs know and this version does not."""
