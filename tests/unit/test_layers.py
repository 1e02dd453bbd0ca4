"""Which way packages, files and modules depend, as ARCHITECTURE.md draws it: read from what each imports."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

import assay

ROOT = Path(assay.__file__).parent
CRATES = ROOT.parents[1] / "crates"
MACHINERY = ("engine", "runner", "cli", "cluster", "dropin", "servers.server", "servers.site")
"""What a record must not need to be judged and reported: rooms, and modules of one. Of the extension itself
the reader of histograms alone is asked (`stats.quantiles`)."""
LOOSE = {"__init__.py", "_engine.pyi"}
"""What lies beside the rooms: the package itself, and the types of the extension module."""


def room(path: Path) -> str:
    """The package of a file, or the file itself where it lies at the top."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes() -> dict[Path, tuple[ast.AST, ...]]:
    """What every file of the package says, taken apart once for all tests."""
    return {
        path: tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(ROOT.rglob("*.py"))
    }


@cache
def rooms() -> dict[str, dict[str, list[str]]]:
    """For each room the rooms that it imports, also in passing or for types only, and where."""
    names = {room(path) for path in nodes()} | {"_engine"}
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, said in nodes().items():
        for node in said:
            for imported in modules(node):
                parts = imported.split(".")
                if parts[0] == "assay" and len(parts) > 1 and parts[1] in names - {room(path)}:
                    found[room(path)][parts[1]].append(str(path.relative_to(ROOT)))
    return found


def modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def test_no_package_imports_one_that_imports_it() -> None:
    assert circles(rooms()) == []


def files() -> dict[str, Path]:
    found = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in ROOT.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


@cache
def graph_of_files() -> dict[str, set[str]]:
    """For each module the modules that it imports. The extension is one that imports nothing."""
    paths = files()
    known = {*paths, "assay._engine"}
    return {
        name: {
            there
            for node in nodes()[path]
            for imported in modules(node)
            if (there := nearest(imported.split("."), known)) not in {None, name} and there is not None
        }
        for name, path in paths.items()
    }


def test_no_file_imports_one_that_imports_it() -> None:
    assert circles(graph_of_files()) == []


def test_no_module_lies_beside_the_rooms() -> None:
    assert {path.name for path in ROOT.glob("*.py*")} <= LOOSE


@pytest.mark.parametrize("crate", sorted(path.parent.name for path in CRATES.glob("*/src")))
def test_no_module_in_rust_uses_one_that_uses_it(crate: str) -> None:
    source = CRATES / crate / "src"
    files = {"::".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("*.rs")}
    files = {re.sub(r"(^|::)(mod|lib)$", "", name): path for name, path in files.items()}
    graph = {name: used(name, path.read_text(encoding="utf-8"), files) for name, path in files.items()}
    assert any(graph.values()) or len(files) <= 4
    assert circles(graph) == []


def test_servers_of_the_tests_are_no_part_of_what_ships() -> None:
    """What the extension is built of: its crate, and the crates of ours that each of those depends on."""
    shipped: set[str] = set()
    ahead = ["engine-python"]
    while ahead:
        crate = ahead.pop()
        shipped.add(crate)
        needed = tomllib.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))["dependencies"]
        near = {Path(one["path"]).name for one in needed.values() if isinstance(one, dict) and "path" in one}
        ahead += near - shipped
    assert {"engine", "null-server"} <= shipped
    assert "test-servers" not in shipped
    programs = {path.stem for crate in shipped for path in (CRATES / crate / "src" / "bin").glob("*.rs")}
    assert programs == {"null-server"}


def test_each_file_of_the_engines_tests_is_run() -> None:
    """As a module of the binary that most share, or as its own binary: cargo looks for none by itself."""
    folder = CRATES / "engine" / "tests"
    targets = {one["name"] for one in tomllib.loads((CRATES / "engine" / "Cargo.toml").read_text())["test"]}
    together = re.findall(r"^mod (\w+);$", (folder / "together.rs").read_text(), re.MULTILINE)
    assert sorted([*targets, *together]) == sorted(["support", *(path.stem for path in folder.glob("*.rs"))])


def used(module: str, code: str, files: Container[str]) -> set[str]:
    """The files of its own crate whose names a module takes where it is not tested."""
    code = re.sub(r"//[^\n]*", "", code.split("#[cfg(test)]")[0])
    found: set[str | None] = set()
    for root, middle, end in re.findall(r"\b(crate|super)::((?:\w+::)*)(\w+|\{[^;]*?\})", code):
        above = module.split("::")[:-1] if root == "super" else []
        for name in re.findall(r"[\w:]+", end):
            path = [*above, *middle.split("::")[:-1], *name.split("::")]
            found.add(nearest(path, files, "::"))
    return {name for name in found - {None, module} if name is not None}


def nearest(path: list[str], known: Container[str], between: str = ".") -> str | None:
    """The file that such a path leads to: a name in it, or it."""
    ways = (between.join(path[:length]) for length in range(len(path), 0, -1))
    return next((way for way in ways if way in known), None)


def circles(graph: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Every circle, as those on it."""
    return sorted({tuple(sorted(path)) for start in graph for path in circles_from(start, graph)})


def circles_from(start: str, graph: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    seen: set[str] = set()
    ahead: list[tuple[str, tuple[str, ...]]] = [(start, (start,))]
    while ahead:
        here, path = ahead.pop()
        for there in graph.get(here, ()):
            if there == start:
                found.append(path)
            elif there not in seen:
                seen.add(there)
                ahead.append((there, (*path, there)))
    return found


@pytest.mark.parametrize("package", ["stats", "verdict", "report", "plan.next", "model", "store"])
def test_a_record_is_judged_and_reported_without_the_machinery(package: str) -> None:
    graph = graph_of_files()
    ahead = [name for name in graph if f"{name}.".startswith(f"assay.{package}.")]
    reached = set(ahead)
    while ahead:
        more = graph.get(ahead.pop(), set()) - reached
        reached |= more
        ahead += more
    assert {
        name for name in reached for part in MACHINERY if f"{name}.".startswith(f"assay.{part}.")
    } == set()


def test_of_the_extension_a_report_needs_the_reader_of_histograms_alone() -> None:
    rooms_of_reports = ("stats", "verdict", "report", "model", "store", "plan")
    users = {
        name
        for name, needed in graph_of_files().items()
        if "assay._engine" in needed and name.split(".")[1] in rooms_of_reports
    }
    assert users == {"assay.stats.quantiles"}


@pytest.mark.parametrize(
    ("package", "only"),
    [
        ("model", set()),
        ("core", {"model"}),
        ("stats", {"model", "core", "_engine"}),
        ("store", {"model", "core"}),
        ("verdict", {"model", "stats", "core"}),
        ("engine", {"model", "core", "_engine"}),
        ("servers", {"model", "core", "engine", "_engine"}),
        ("plan", {"model", "core", "stats", "verdict", "servers", "engine"}),
        ("audit", {"model", "core"}),
    ],
)
def test_the_lower_rooms_import_only_what_is_below_them(package: str, only: set[str]) -> None:
    assert set(rooms().get(package, ())) <= only


def test_only_screens_and_reports_know_the_terminal() -> None:
    drawing = {
        room(path)
        for path, said in nodes().items()
        for node in said
        for name in modules(node)
        if name.split(".")[0] == "rich"
    }
    assert drawing <= {"report", "core", "cli", "dropin"}


def test_what_a_report_says_knows_nothing_of_how_it_is_laid_out() -> None:
    laid_out = {"rich", "jinja2", "markupsafe"}
    laid_out |= {f"assay.report.{name}" for name in ("terminal", "markdown", "html", "charts", "style")}
    told = {
        name
        for path in (ROOT / "report" / "model").glob("*.py")
        for node in nodes()[path]
        for name in modules(node)
    }
    assert {name for name in told for out in laid_out if f"{name}.".startswith(f"{out}.")} == set()


def test_a_word_of_the_glossary_names_one_type() -> None:
    """A type that only its own file sees may say it again, with an underscore before it."""
    glossary = (ROOT.parents[1] / "GLOSSARY.md").read_text(encoding="utf-8")
    terms = set(re.findall(r"\*\*([a-z]+)\*\*", glossary))
    named: dict[str, list[str]] = defaultdict(list)
    ours = [path for path in sorted(ROOT.rglob("*.py")) if path.parent.name != "example"]  # the user's
    for path in ours:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.lower() in terms:
                named[node.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("renderer", ["terminal", "markdown", "html"])
def test_a_renderer_reaches_nothing_of_runs(renderer: str) -> None:
    graph, reached = graph_of_files(), {f"assay.report.{renderer}"}
    ahead = [*reached]
    while ahead:
        more = graph.get(ahead.pop(), set()) - reached
        reached |= more
        ahead += more
    runs = r"assay\.(verdict|stats|runner|plan|store|report\.model|model\.(run|trial|block|design|account))\b"
    assert {name for name in reached if re.match(runs, name)} == set()


def test_only_renderers_lay_out() -> None:
    """Beside them the views of what is going on."""
    rich = {
        path.stem
        for path in (ROOT / "report").rglob("*.py")
        for node in nodes()[path]
        for name in modules(node)
        if name.split(".")[0] == "rich"
    }
    assert rich == {"terminal", "style", "load", "live_words", "run_live"}
