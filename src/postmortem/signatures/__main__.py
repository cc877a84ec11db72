"""For authors and maintainers of catalogues.

`python -m postmortem.signatures check [--partial] FILE...` checks the files without the shipped catalogue;
`python -m postmortem.signatures schema` prints the JSON Schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from postmortem.errors import SignatureError
from postmortem.signatures import check, load_files, warnings
from postmortem.signatures.schema import schema


def main(arguments: list[str]) -> int:
    """0 when all is well, 1 for problems, 2 for wrong arguments."""
    if arguments == ["schema"]:
        print(json.dumps(schema(), indent=1, ensure_ascii=False))
        return 0
    files = [Path(a) for a in arguments[1:] if a != "--partial"]
    if arguments[:1] != ["check"] or not files:
        print("usage: python -m postmortem.signatures (check [--partial] FILE... | schema)", file=sys.stderr)
        return 2
    try:
        catalogue = load_files(files, partial="--partial" in arguments)
    except SignatureError as error:
        print("\n".join(error.mistakes))
        return 1
    problems = check(catalogue)
    for line in (*(f"warning: {w}" for w in warnings(catalogue)), *problems):
        print(line)
    print(f"{len(catalogue.signatures)} signatures, {len(catalogue.patterns)} patterns, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
