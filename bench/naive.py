"""What most scripts do: every pattern over every line of every member. python bench/naive.py PATTERNS BUNDLE"""

from __future__ import annotations

import collections
import re
import sys
import tarfile


def main(patterns_file: str, bundle: str) -> None:
    with open(patterns_file, encoding="utf-8") as file:
        patterns = [re.compile(line.rstrip("\n")) for line in file if line.strip()]
    counts: collections.Counter[str] = collections.Counter()
    first: dict[str, str] = {}
    with tarfile.open(bundle) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            for number, raw in enumerate(content or (), 1):
                line = raw.decode("utf-8", "replace").rstrip("\n")
                for pattern in patterns:
                    if pattern.search(line):
                        counts[pattern.pattern] += 1
                        first.setdefault(pattern.pattern, f"{member.name}:{number}: {line}")
    for pattern, count in counts.most_common(10):
        print(count, first[pattern])


if __name__ == "__main__":
    main(*sys.argv[1:])
