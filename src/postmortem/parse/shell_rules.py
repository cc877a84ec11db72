"""What shells print, by kind of fault: bash 4 to 5.3, dash, zsh, mksh, ksh, busybox ash."""

from __future__ import annotations

# Where: `F: line 3: ` (bash, busybox), `F: 3: ` (dash), `F:3: ` (zsh), `E: F[3]: ` (mksh), `bash: ` (a prompt, -c)
_F = r"(?P<script>(?:/|\.{1,2}/|~/)?[^\s:|'\"`\[\]()]+)"
BASH = rf"(?:^|[\s|\]]){_F}: (?:-c: )?line (?P<line>\d+): "
_DASH = rf"(?:^|[|\]>]\s*){_F}: (?P<line>\d+): "
_ZSH = rf"(?:^|[\s|\]]){_F}:(?P<line>\d+): "
_MKSH = rf"(?:^|[\s|\]])(?:E: )?{_F}\[(?P<line>\d+)\]: "
_PROMPT = r"(?:^|[\s|\]])(?P<script>-?(?:ba|da|z|mk|k|a)?sh): (?P<line>)"

# (literal, what, shells whose form of place goes before it, the rest of the line)
RULES: tuple[tuple[str, str, str, str], ...] = (
    # bash
    ("syntax error near unexpected token", "syntax", "b", r"syntax error near unexpected token `(?P<token>.*)'$"),
    ("syntax error near", "syntax", "b", r"syntax error near `(?P<token>.*)'$"),
    (
        "syntax error in conditional expression",
        "syntax",
        "b",
        r"syntax error in conditional expression(?:: unexpected token `(?P<token>.*)')?",
    ),
    ("conditional binary operator expected", "syntax", "b", r"conditional binary operator expected$"),
    (
        "unexpected argument",
        "syntax",
        "b",
        r"unexpected argument `(?P<token>.*)' to conditional (?:unary|binary) operator",
    ),
    (
        "unexpected end of file",
        "eof",
        "b",
        (
            r"syntax error: unexpected end of file(?: \(expecting \"(?P<expecting>[^\"]*)\"\))"
            r"?(?: from `(?P<token>.*)' command on line (?P<opened>\d+))?$"
        ),
    ),
    (
        "unexpected EOF while looking for matching",
        "quote",
        "b",
        r"unexpected EOF while looking for matching `(?P<token>.*)'$",
    ),
    (
        "syntax error: unexpected",
        "syntax",
        "b",
        r'syntax error: unexpected (?P<token>"[^"]*"|\S+)(?: \(expecting "(?P<expecting>[^"]*)"\))?$',
    ),
    ("syntax error: unterminated quoted string", "quote", "b", r"syntax error: (?P<token>unterminated quoted string)$"),
    ("syntax error: bad", "syntax", "b", r"syntax error: (?P<token>bad [\w ]+)$"),
    ("bad substitution", "substitution", "bdzp", r"(?P<token>\S.*): bad substitution$"),
    ("Bad substitution", "substitution", "d", r"(?P<token>)Bad substitution$"),
    ("arithmetic syntax error", "arithmetic", "b", r"(?P<token>.*): arithmetic syntax error"),
    (
        "(error token is",
        "arithmetic",
        "b",
        (
            r"(?P<token>.*): (?:syntax error|division by 0|value too great for base|expression recursion|"
            r"attempted assignment|missing).*\(error token is \""
        ),
    ),
    ("arithmetic expression: ", "arithmetic", "d", r'arithmetic expression: [\w ]+: "(?P<token>.*)"$'),
    ("unbound variable", "unbound", "bp", r"(?P<token>[\w$!@*\[\]]+): unbound variable$"),
    ("parameter not set", "unbound", "bdzm", r"(?P<token>[\w$!@*]+): parameter (?:not set|null or not set)$"),
    ("command not found", "not-found", "bp", r"(?P<token>\S.*): command not found$"),
    ("command not found: ", "not-found", "zp", r"command not found: (?P<token>.+)$"),
    (": not found", "not-found", "bdm", r"(?P<token>\S+): not found$"),
    (": not found", "crlf", "bd", r"(?P<token>[\r␍]?): not found$"),
    ("illegal option ", "bad-option", "a", r"illegal option (?P<token>.+)$"),
    ("divide by zero", "arithmetic", "b", r"(?P<token>)divide by zero$"),
    ("inaccessible or not found", "not-found", "m", r"(?P<token>\S+): inaccessible or not found$"),
    (
        "bad interpreter",
        "bad-interpreter",
        "bp",
        r"(?P<token>\S+): (?P<interpreter>\S+): bad interpreter: (?:No such file or directory|Permission denied)$",
    ),
    (
        "bad interpreter",
        "bad-interpreter",
        "s",
        r"(?P<interpreter>\S+): bad interpreter: (?:No such file or directory|Permission denied)$",
    ),
    (
        "cannot execute: required file not found",
        "bad-interpreter",
        "bp",
        r"(?P<token>\S+): cannot execute: required file not found$",
    ),
    (
        "cannot execute binary file",
        "exec-format",
        "bp",
        r"(?P<token>\S+): cannot execute binary file(?:: Exec format error)?$",
    ),
    ("Exec format error", "exec-format", "dp", r"(?P<token>\S+): Exec format error$"),
    ("Permission denied", "permission", "bdp", r"(?P<token>\S+): Permission denied$"),
    ("permission denied: ", "permission", "z", r"permission denied: (?P<token>.+)$"),
    (": Is a directory", "permission", "bp", r"(?P<token>\S+): Is a directory$"),
    (
        "No such file or directory",
        "no-such-file",
        "bp",
        r"(?:(?P<command>cd|source|\.|pushd): )?(?P<token>\S.*): No such file or directory$",
    ),
    ("no such file or directory: ", "no-such-file", "z", r"no such file or directory: (?P<token>.+)$"),
    (
        "cannot create ",
        "redirect",
        "d",
        r"cannot create (?P<token>\S+): (?:Directory nonexistent|Permission denied|.*)$",
    ),
    ("cannot open ", "redirect", "d", r"cannot open (?P<token>\S+): No such file"),
    ("ambiguous redirect", "redirect", "b", r"(?P<token>\S.*): ambiguous redirect$"),
    ("Bad file descriptor", "redirect", "b", r"(?P<token>\d+): Bad file descriptor$"),
    ("No space left on device", "redirect", "b", r"(?:echo|printf): write error: (?P<token>No space left on device)$"),
    ("invalid option", "bad-option", "bp", r"(?P<command>\w+): (?P<token>\S+): invalid option(?: name)?$"),
    ("bad option: ", "bad-option", "z", r"(?:\w+: )?bad option: (?P<token>\S+)$"),
    ("Illegal option", "bad-option", "d", r"(?P<command>\w+): Illegal option (?P<token>.+)$"),
    (
        "expression expected",
        "bad-test",
        "b",
        r"(?P<command>\[|test): (?P<token>.*): (?:integer expression|unary operator|binary operator) expected$",
    ),
    ("operator expected", "bad-test", "b", r"(?P<command>\[|test): (?P<token>.*): (?:unary|binary) operator expected$"),
    ("integer expected", "bad-test", "b", r"(?P<command>\[|test): (?P<token>.*): integer expected$"),
    ("too many arguments", "bad-test", "b", r"(?P<command>\[|test): (?P<token>)too many arguments$"),
    ("Illegal number: ", "bad-test", "d", r"(?:(?P<command>\[|\w+): )?Illegal number: (?P<token>.*)$"),
    ("readonly variable", "readonly", "b", r"(?P<token>\w+): readonly variable$"),
    ("is read only", "readonly", "d", r"(?P<token>\w+): is read only$"),
    ("bad array subscript", "substitution", "b", r"(?P<token>\S+): bad array subscript$"),
    # dash
    (
        "Syntax error: end of file unexpected",
        "eof",
        "d",
        r'Syntax error: end of file unexpected(?: \(expecting "(?P<expecting>[^"]*)"\))?$',
    ),
    ("Syntax error: Unterminated quoted string", "quote", "d", r"Syntax error: (?P<token>Unterminated quoted string)$"),
    ("Syntax error: EOF in ", "eof", "d", r"Syntax error: (?P<token>EOF in [\w ]+)$"),
    (
        "Syntax error: ",
        "syntax",
        "d",
        r'Syntax error: (?P<token>"[^"]*"|\S+) unexpected(?: \(expecting "(?P<expecting>[^"]*)"\))?$',
    ),
    ("Syntax error: ", "syntax", "d", r"Syntax error: (?P<token>[A-Z][\w ]+)$"),
    # zsh
    ("parse error near", "syntax", "z", r"parse error near `(?P<token>.*)'$"),
    ("parse error", "eof", "z", r"(?P<token>)parse error$"),
    ("unmatched ", "quote", "z", r"unmatched (?P<token>\S)$"),
    # mksh
    ("syntax error: unexpected '", "syntax", "m", r"syntax error: unexpected '(?P<token>.*)'$"),
    ("syntax error: unmatched '", "eof", "m", r"syntax error: unmatched '(?P<token>.*)'$"),
    ("no closing quote", "quote", "m", r"(?P<token>)no closing quote$"),
    # ksh88, ksh93, AIX, the Bourne shell of System V: the line of the error stands behind the words
    ("syntax error at line ", "syntax", "k", r"`(?P<token>.*)' unexpected$"),
    ("syntax error at line ", "eof", "k", r"`(?P<token>.*)' unmatched$"),
    ("Syntax error at line ", "syntax", "k", r"`(?P<token>.*)' is not expected\.?$"),
    ("Syntax error at line ", "eof", "k", r"`(?P<token>.*)' is not matched\.?$"),
)
PLACES = {
    "a": rf"(?:^|[\s|\]]){_F}: (?P<command>\w+): line (?P<line>\d+): ",
    "b": BASH,
    "d": _DASH,
    "z": _ZSH,
    "m": _MKSH,
    "k": rf"(?:^|[\s|\]]){_F}(?:\[\d+\])?: (?:line \d+: )?(?:0403-057 )?[Ss]yntax error at line (?P<line>\d+) ?: ",
    "p": _PROMPT,
    "s": rf"(?:^|[\s|\]]){_F}: (?P<line>)",
}
SHELLS = {"a": "ash", "b": "bash", "d": "dash", "z": "zsh", "k": "ksh", "m": "mksh", "p": "", "s": ""}
