"""Passes on what `cargo test` prints, then tells how long its binaries and slowest tests took."""

import re
import sys

SLOWEST = 10

binary = "?"
binaries: list[tuple[float, str]] = []
tests: list[tuple[float, str]] = []
for line in sys.stdin:
    sys.stdout.write(line)
    sys.stdout.flush()
    if found := re.match(r"\s+Running (?:unittests )?(\S+) \(\S*?/deps/(\w+)-", line):
        binary = f"{found[2]} ({found[1]})"
    elif found := re.match(r"test (\S+) .*<([\d.]+)s>$", line):
        tests.append((float(found[2]), f"{binary}: {found[1]}"))
    elif found := re.match(r"test result: .* finished in ([\d.]+)s$", line):
        binaries.append((float(found[1]), binary))
for title, times in ("binaries", binaries), ("slowest tests", sorted(tests)[-SLOWEST:]):
    sys.stdout.write(f"\n{title}:\n")
    for seconds, name in sorted(times, reverse=True):
        if seconds >= 0.5:
            sys.stdout.write(f"{seconds:7.1f} s  {name}\n")
