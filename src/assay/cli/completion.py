"""`assay completion SHELL`: what a shell needs to complete verbs and flags, made from the parsers."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cli import verbs
from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=tuple(_WRITERS), metavar="SHELL", help="bash, zsh or fish")
    parser.examples(
        ("assay completion bash > ~/.local/share/bash-completion/completions/assay", "for every new bash"),
        ('assay completion zsh > "${fpath[1]}/_assay"', "zsh; the folder must be in its fpath"),
        ("assay completion fish > ~/.config/fish/completions/assay.fish", "fish"),
    )


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    console.write(_WRITERS[args.shell](tuple(map(_words_of, verbs.listed()))))
    return EXIT_OK


@dataclass(frozen=True)
class _ShellFlag:
    """A flag as a shell sees it; `takes` a word or none, perhaps one of `choices`."""

    names: tuple[str, ...]
    help: str
    takes: bool
    choices: tuple[str, ...]


@dataclass(frozen=True)
class _VerbWords:
    """A verb, its flags, and what the words without a flag are ("" for nothing that is known)."""

    name: str
    purpose: str
    flags: tuple[_ShellFlag, ...] = ()
    positional: str = ""
    choices: tuple[str, ...] = ()


def _words_of(verb: verbs.Verb) -> _VerbWords:
    """A drop-in has its tool's own flags, which its tool's own completion knows."""
    if not verb.has_parser:
        return _VerbWords(verb.name, verb.purpose)
    actions = verb.parser().actions
    flags = tuple(
        _ShellFlag(
            names=tuple(action.option_strings),
            help=((action.help or "") % {}).replace("\n", " "),
            takes=action.nargs != 0,
            choices=_choices(action),
        )
        for action in actions
        if action.option_strings
    )
    first = next((action for action in actions if not action.option_strings), None)
    metavar = str(first.metavar) if first else ""
    return _VerbWords(verb.name, verb.purpose, flags, metavar, _choices(first) if first else ())


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


_NAMES = {
    "RUN": "echo latest; ls -t -- ${ASSAY_RESULTS:-results} 2>/dev/null",
    "STUDY": "for one in studies/*.toml; do basename -- $one .toml; done 2>/dev/null; "
    "assay studies 2>/dev/null | sed -n '2,$s/^\\([^ ][^ ]*\\).*/\\1/p'",
}
"""What lists the names that stand for a word; other words are files."""
_NAMES["BASE"] = _NAMES["NEW"] = _NAMES["RUN"]


def _bash(listed: tuple[_VerbWords, ...]) -> str:
    cases = []
    for verb in listed:
        flags = " ".join(name for flag in verb.flags for name in flag.names)
        values = "".join(
            f"          {'|'.join(flag.names)}) words='{' '.join(flag.choices)}' ;;\n"
            for flag in verb.flags
            if flag.choices
        )
        asked = f'        case "$before" in\n{values}        esac\n' if values else ""
        names = "'" + " ".join(verb.choices) + "'" if verb.choices else f"$({_listing(verb)})"
        cases.append(f"      {verb.name})\n        flags='{flags}'\n{asked}        named={names}\n        ;;")
    return _BASH.format(verbs=" ".join(verb.name for verb in listed), cases="\n".join(cases))


def _listing(verb: _VerbWords) -> str:
    return _NAMES.get(verb.positional, "")


_BASH = """# bash completion for assay; `assay completion bash` prints it
_assay() {{
  local here=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} flags='' words='' named=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{verbs}'
  else
    case "${{COMP_WORDS[1]}}" in
      help) words='{verbs}' ;;
{cases}
    esac
  fi
  case "$here" in -*) words=$flags ;; esac
  [ -n "$words" ] || words=$named
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$here")
}}
complete -o default -F _assay assay"""


def _zsh(listed: tuple[_VerbWords, ...]) -> str:
    described = "\n".join(f"    {_quoted(f'{verb.name}:{verb.purpose}')}" for verb in listed)
    return _ZSH.format(verbs=described, cases="\n".join(map(_zsh_case, listed)))


def _zsh_case(verb: _VerbWords) -> str:
    specs = [_zsh_flag(flag) for flag in verb.flags]
    if verb.choices:
        specs.append(f"'*:{verb.positional.lower()}:({' '.join(verb.choices)})'")
    elif listing := _listing(verb):
        named = f'{{compadd -- ${{(f)"$({listing})"}}}}'
        specs.append(_quoted(f"*:{verb.positional.lower()}:{named}"))
    else:
        specs.append("'*:file:_files'")
    return f"    {verb.name})\n      _arguments {' '.join(specs)} ;;"


def _zsh_flag(flag: _ShellFlag) -> str:
    said = flag.help.translate({ord(sign): f"\\{sign}" for sign in "[]:\\"})
    value = f":value:({' '.join(flag.choices)})" if flag.choices else ":value:_files" if flag.takes else ""
    names = "{" + ",".join(flag.names) + "}" if len(flag.names) > 1 else flag.names[0]
    return f"'*'{names}{_quoted(f'[{said}]{value}')}"


_ZSH = """#compdef assay
# zsh completion for assay; `assay completion zsh` prints it
local -a verbs
verbs=(
{verbs}
)
if (( CURRENT == 2 )); then
  _describe 'verb' verbs
else
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{cases}
  esac
fi"""


def _fish(listed: tuple[_VerbWords, ...]) -> str:
    lines = ["# fish completion for assay; `assay completion fish` prints it"]
    for verb in listed:
        first = f"complete -c assay -n __fish_use_subcommand -f -a {verb.name}"
        lines.append(f"{first} -d {_quoted(verb.purpose)}")
        within = f"complete -c assay -n '__fish_seen_subcommand_from {verb.name}'"
        for flag in verb.flags:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names
            )
            value = f" -x -a '{' '.join(flag.choices)}'" if flag.choices else " -r" if flag.takes else ""
            lines.append(f"{within} {names}{value} -d {_quoted(flag.help)}")
        if verb.choices or _listing(verb):
            names = " ".join(verb.choices) or f'(sh -c "{_fish_escaped(_listing(verb))}")'
            lines.append(f"{within} -f -a {_quoted(names)}")
    return "\n".join(lines)


def _fish_escaped(listing: str) -> str:
    return listing.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")


def _quoted(text: str) -> str:
    """Within single quotes, as bash and zsh read them; fish reads the same."""
    return "'" + text.replace("'", "'\\''") + "'"


_WRITERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
