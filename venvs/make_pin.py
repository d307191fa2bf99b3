#!/usr/bin/env python3
"""Writes the pin of a release of torch from what pip fetches.

    python3 venvs/make_pin.py 2.16.0                  writes venvs/torch-2.16.0.json
    python3 venvs/make_pin.py 2.16.0 --python 3.12 --released 2026-12-01 --out FILE

Fetches the wheel of torch and the CUDA runtime and CUPTI wheels that its metadata names, with
`pip download`, so pip's own configuration (mirrors, PIP_FIND_LINKS, ...) applies; some 1 GB that
is deleted afterwards. Sizes and hashes are those of the fetched files, the commit is the one in
torch/version.py, and the date, unless given, that of the newest file in the wheel: the day of the
build, which may come before that of the release. Needs Python 3.8 and pip, nothing else.
"""

import argparse
import ast
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# Platforms to try, newest first; a wheel that names two stands under either.
PLATFORMS = ["manylinux_2_28", "manylinux_2_27", "manylinux_2_25", "manylinux_2_17",
             "manylinux2014", "manylinux1"]


def fail(text):
    sys.exit(f"error: {text}")


def fetch(requirement, python, machine, folder):
    """Downloads one wheel; its path."""
    digits = python.replace(".", "")
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder)).resolve()
    # Isolated and in a folder of its own: a pip.py where the person stands isn't pip.
    command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
               "--only-binary=:all:", "--implementation=cp", f"--python-version={python}",
               f"--abi=cp{digits}", *(f"--platform={p}_{machine}" for p in PLATFORMS),
               "--dest", str(folder), requirement]
    print(f"fetching {requirement}", file=sys.stderr)
    if subprocess.run(command, check=False, cwd=folder).returncode != 0:
        fail(f"pip can't fetch {requirement} for Python {python}; try another --python")
    return next(folder.glob("*.whl"))


def read_member(wheel, suffix):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(suffix):
                return archive.read(name).decode()
    fail(f"{wheel.name}: no {suffix} in it")


def described(wheel):
    """File name, size and hash."""
    digest = hashlib.sha256()
    with open(wheel, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return {"file": wheel.name, "size": wheel.stat().st_size, "sha256": digest.hexdigest()}


def requirements(wheel):
    """The Requires-Dist lines as (package, extras, specifier, marker)."""
    pattern = re.compile(r"Requires-Dist: *([A-Za-z0-9._-]+) *(?:\[([^\]]*)\])? *\(?([^;)]*)\)? *"
                         r"(?:;(.*))?$")
    for line in read_member(wheel, ".dist-info/METADATA").splitlines():
        match = pattern.match(line)
        if match:
            name, extras, specifier, marker = (part or "" for part in match.groups())
            yield name, extras.split(","), specifier.strip(), marker.strip()


def is_needed(package):
    return re.fullmatch(r"nvidia-cuda-(runtime|cupti)(-cu\d+)?", package) is not None


def extra_requirements(torch, python, machine, folder):
    """CUDA runtime and CUPTI: named by torch's metadata itself, or, since 2.12 or so, as extras of
    the package cuda-toolkit, whose metadata then names them."""
    for package, extras, specifier, _ in requirements(torch):
        if is_needed(package):
            yield package + specifier
        elif package == "cuda-toolkit":
            toolkit = fetch(package + specifier, python, machine, folder)
            wanted = {"cudart", "cupti"} & {extra.strip() for extra in extras}
            for inner, _, inner_specifier, marker in requirements(toolkit):
                extra = re.search(r"extra *== *['\"]([a-z0-9-]+)['\"]", marker)
                if is_needed(inner) and extra and extra.group(1) in wanted:
                    yield inner + inner_specifier


def described_extra(wheel):
    package, version = wheel.name.split("-")[:2]
    return {"package": package.replace("_", "-"), "version": version, **described(wheel)}


def commit_of(wheel):
    for statement in ast.parse(read_member(wheel, "torch/version.py")).body:
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        if getattr(targets[0], "id", "") == "git_version":
            return ast.literal_eval(statement.value)
    fail(f"{wheel.name}: torch/version.py names no git_version")


def newest_date(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return "%04d-%02d-%02d" % max(member.date_time for member in archive.infolist())[:3]


def libraries_bytes(torch):
    """Unpacked size of what a runner may load from torch's wheel: for the check of the free disk,
    which adds a margin for the headers and the extra wheels."""
    pattern = re.compile(r"(.*/)?(libtorch_cpu|libc10|libgomp|libcudart)[^/]*\.so[^/]*")
    with zipfile.ZipFile(torch) as archive:
        return sum(m.file_size for m in archive.infolist() if pattern.fullmatch(m.filename))


def make_pin(version, python, machine, released, name, folder):
    torch = fetch(f"torch=={version}", python, machine, folder)
    extras = [fetch(requirement, python, machine, folder)
              for requirement in extra_requirements(torch, python, machine, folder)]
    python_tag, _, platform_tag = torch.stem.split("-")[-3:]
    return {
        "torch": version,
        **({"name": name} if name else {}),
        "released": released or newest_date(torch),
        "git_commit": commit_of(torch),
        "python_tag": python_tag,
        "platform_tag": platform_tag,
        "wheel": described(torch),
        "extra_wheels": [described_extra(extra) for extra in extras],
        "libraries_bytes": libraries_bytes(torch),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="the release, such as 2.16.0")
    parser.add_argument("--python", default="3.11", help="of the wheel (default: 3.11)")
    parser.add_argument("--machine", default="x86_64", help="of the wheel (default: x86_64)")
    parser.add_argument("--released", help="YYYY-MM-DD (default: newest file in the wheel)")
    parser.add_argument("--name", help="a name that the pin has besides its release")
    parser.add_argument("--scratch", help="where to put the wheels meanwhile (default: TMPDIR)")
    parser.add_argument("--out", type=pathlib.Path, help="default: beside this script")
    options = parser.parse_args()
    out = options.out or pathlib.Path(__file__).parent / f"torch-{options.version}.json"
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        pin = make_pin(options.version, options.python, options.machine, options.released,
                       options.name, folder)
    out.write_text(json.dumps(pin, indent=2) + "\n")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
