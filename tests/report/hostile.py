"""A folder whose every line tries to be more than text."""

from __future__ import annotations

from pathlib import Path

PAYLOADS = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "</pre></td></details><svg onload=document.title='owned'><style>*{display:none}</style>",
    "</script><script>document.title='owned'</script>",
    "<a href=javascript:document.title='owned'>click</a> <iframe src=http://evil.example/></iframe>",
    "{{ 7*7 }} {% raw %} ${7*7} $x^2$ &lt;b&gt; &#60;script&#62;",
    "``` \n ````` ~~~ @everyone @octocat #12 org/repo#3 GH-7 :boom: <!channel> ![x](http://evil.example/p.png)",
    "[link](http://evil.example) https://evil.example www.evil.example mailto:a@evil.example | cell | # heading",
    "\x1b]0;owned\x07\x1b[2J\x1b]8;;http://evil.example\x1b\\x \u202eesrever\u2066 \x00\x08\x9b31m \ud7ff\ufffe",
    "]]> <!-- --> <![CDATA[ <?xml ?> &xxe;",
)


def folder(path: Path) -> Path:
    """Logs with findings, whose evidence, names, neighbours and script lines are hostile."""
    stamp = "2026-01-01T00:00:{:02d}Z"
    lines = [
        f"{stamp.format(n)} ERROR app: {text.replace(chr(10), ' ')} about to fail" for n, text in enumerate(PAYLOADS)
    ]
    for n, text in enumerate(PAYLOADS):
        one = text.replace("\n", " ")
        lines.append(f"{stamp.format(20 + n)} ERROR app: {one}: bind: Address already in use (os error 98)")
    lines.append(f"{stamp.format(50)} INFO app: " + "x" * (1 << 20))
    lines.append(
        "/opt/<b>run.sh: line 3: syntax error near unexpected token `</pre><script>document.title='owned'</script>'"
    )
    path.mkdir()
    (path / "app<img src=x onerror=1>`|@octocat.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (path / "run.sh").write_text("#!/bin/bash\nif true; then\n</pre><script>document.title='owned'</script>\nfi\n")
    (path / "ps.txt").write_text(
        "    PID    PPID STAT     RSS COMMAND\n      1       0 Ss      3012 /sbin/init\n"
        "     77       1 Z          0 [<script>x</script>] <defunct>\n     78       1 D       10 [kworker/<b>]\n"
    )
    return path
