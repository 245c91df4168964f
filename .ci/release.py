"""Names the package as it is published, checks what is built, and tags a release.

A package index takes no local version (`+dropin.1`), and `openai-harmony` is another project
there. `.ci/urls` has what an index links to, for the owner to fill. `.ci/distribution` has the
name and the version under which this package is published, and whether its owner has registered
the name: until then it is anybody's, so no document may tell people to install it from an index
(tests/python/test_names.py).

    python .ci/release.py rename      writes them into pyproject.toml and the manifests, for a build
    python .ci/release.py check DIR   checks the distributions in a folder
    python .ci/release.py c DIR       archives the library for C, with its bill of materials
    python .ci/release.py npm DIR     packs what `make wasm` built, with the same
    python .ci/release.py tag         tags the commit and pushes the tag, which starts the workflow
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def distribution() -> tuple[str, str]:
    """The name and the version, as an index takes them."""
    words = (ROOT / ".ci/distribution").read_text("utf-8").split()
    if len(words) != 3 or not re.fullmatch(r"[a-z0-9-]+", words[0]):
        sys.exit(f".ci/distribution: expected a name, a version and a state, got {words}")
    if words[2] not in ("registered", "unregistered"):
        sys.exit(f".ci/distribution: expected registered or unregistered, got {words[2]}")
    if not re.fullmatch(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?", words[1]):
        sys.exit(f".ci/distribution: an index refuses the version {words[1]}")
    return words[0], words[1]


def rename() -> None:
    """Only what pip and the index see changes: the module, the command and the library stay."""
    name, version = distribution()
    replace("pyproject.toml", r'^name = "openai-harmony"$', f'name = "{name}"')
    replace("pyproject.toml", r'^dynamic = \["version"\]$', f'version = "{version}"')
    replace("Cargo.toml", r'^name = "openai-harmony"$', f'name = "{name}"')
    for member in ("capi", "checks", "python", "tests"):
        library = r"^openai-harmony = \{ path"
        replace(f"{member}/Cargo.toml", library, f'openai-harmony = {{ package = "{name}", path')
    urls = (ROOT / ".ci/urls").read_text("utf-8")
    extra = "[project.optional-dependencies]"
    replace("pyproject.toml", f"^{re.escape(extra)}$", f"[project.urls]\n{urls}\n{extra}")
    extras = "python/openai_harmony/_extras.py"
    replace(extras, r'^DISTRIBUTION = "openai-harmony"$', f'DISTRIBUTION = "{name}"')


def replace(path: str, pattern: str, by: str) -> None:
    """Replaces the one line that matches."""
    file = ROOT / path
    text, count = re.subn(pattern, by, file.read_text("utf-8"), flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"{path}: {count} lines match {pattern}")
    file.write_text(text, "utf-8")


def check(folder: Path) -> None:
    """Name, version, and that the source has each file that its README links to."""
    name, version = distribution()
    stem = f"{name.replace('-', '_')}-{version}"
    built = sorted(folder.iterdir())
    wrong = [
        path.name
        for path in built
        if not path.name.startswith(f"{stem}.tar") and not path.name.startswith(f"{stem}-")
    ]
    if wrong or not built:
        sys.exit(f"{folder}: expected distributions {stem}, got {wrong or 'none'}")
    for path in built:
        if path.suffix == ".whl":
            check_wheel(path)
        else:
            check_sdist(path, stem)
    print(f"{len(built)} distributions are as {stem} should be")


def check_wheel(path: Path) -> None:
    """Its module, types, license and bill of materials are there, and it has no relative link."""
    archive = zipfile.ZipFile(path)
    names = archive.namelist()
    module = ("openai_harmony/__init__.py", "openai_harmony/py.typed")
    # maturin lists the crates that are built into the extension, in CycloneDX's form (PEP 770).
    for wanted in (*module, "licenses/LICENSE", "sboms/openai-harmony-python.cyclonedx.json"):
        if not any(wanted in name for name in names):
            sys.exit(f"{path.name}: has no {wanted}")
    [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
    if links := LINK.findall(archive.read(metadata).decode("utf-8")):
        sys.exit(f"{path.name}: an index shows its description without {', '.join(links)}")


def check_sdist(path: Path, stem: str) -> None:
    """It builds from what it has, and its README's links lead to files."""
    with tarfile.open(path) as archive:
        names = {name.removeprefix(f"{stem}/") for name in archive.getnames()}
        readme = archive.extractfile(f"{stem}/README.md")
        text = readme.read().decode("utf-8") if readme else ""
    links = set(LINK.findall(text))
    missing = sorted({*links, "Cargo.lock", "LICENSE", "SECURITY.md", "build.rs"} - names)
    if missing:
        sys.exit(f"{path.name}: its README names what it does not have: {', '.join(missing)}")


def bill(target: str) -> str:
    """The crates in the library for C, in CycloneDX's form."""
    form = ["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]
    options = ["--package", "openai-harmony-capi", "--edges", "normal", "--target", target, *form]
    found = output("cargo", "tree", "--locked", *options)
    lines = (re.match(r"(\S+) v([^ |]+)[^|]*\|(.*)", line) for line in found)
    parts = []
    for name, version, license_ in sorted({line.groups() for line in lines if line}):
        purl = f"pkg:cargo/{name}@{version}"
        one = {"type": "library", "name": name, "version": version, "purl": purl}
        parts.append({**one, "licenses": [{"expression": license_.replace("/", " OR ")}]})
    return json.dumps(
        {"bomFormat": "CycloneDX", "specVersion": "1.5", "components": parts}, indent=1
    )


def c(folder: Path) -> None:
    """Headers, both libraries and what pkg-config reads, wherever the archive is unpacked."""
    subprocess.run(["cargo", "build", "--release", "--package", "openai-harmony-capi"], check=True)
    [host] = [line[6:] for line in output("rustc", "-vV") if line.startswith("host: ")]
    root = folder / f"openai-harmony-{distribution()[1]}-{host}"
    for name in ("include", "lib/pkgconfig", "swift"):
        (root / name).mkdir(parents=True)
    names = ("libharmony.a", "libharmony.so", "libharmony.dylib", "harmony.dll", "harmony.lib")
    built = [path for name in names if (path := ROOT / "target/release" / name).is_file()]
    for path in built:
        shutil.copy(path, root / "lib")
    for name in ("include/openai_harmony.h", "swift/module.modulemap"):
        shutil.copy(ROOT / "capi" / name, root / name)
    shutil.copy(ROOT / "LICENSE", root)
    template = (ROOT / "capi/openai-harmony.pc.in").read_text("utf-8")
    filled = template.replace("@PREFIX@", "${pcfiledir}/../..")
    (root / "lib/pkgconfig/openai-harmony.pc").write_text(filled, "utf-8")
    (root / "bom.json").write_text(bill(host), "utf-8")
    with tarfile.open(f"{root}.tar.gz", "w:gz") as archive:
        archive.add(root, root.name)
    shutil.rmtree(root)


def npm(folder: Path) -> None:
    """The tarball has the files that package.json names, the license, and a README."""
    stage = ROOT / "target/npm"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(
        ROOT / "javascript", stage, ignore=shutil.ignore_patterns("test", "node_modules")
    )
    shutil.copy(ROOT / "LICENSE", stage)
    readme = (ROOT / "docs/javascript.md").read_text("utf-8").replace("](../javascript/", "](")
    (stage / "README.md").write_text(readme, "utf-8")
    (stage / "bom.json").write_text(bill("wasm32-unknown-unknown"), "utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "pack", "--pack-destination", folder.resolve()], cwd=stage, check=True)


def output(*command: str) -> list[str]:
    """The lines that a program prints."""
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return run.stdout.splitlines()


def tag() -> None:
    """Tags what is on main, if it is clean and the changelog describes this version."""
    _, version = distribution()
    if git("status", "--porcelain"):
        sys.exit("there are changes that are not committed")
    if git("branch", "--show-current") != "main":
        sys.exit("not on main")
    if f"## [{version}]" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        sys.exit(f"CHANGELOG.md has no section [{version}]: rename [Unreleased]")
    name = f"v{version}"
    if git("tag", "--list", name):
        sys.exit(f"{name} is there already: .ci/distribution has the next version")
    git("tag", "--annotate", name, "--message", f"Version {version}")
    git("push", "origin", "main", name)
    print(f"{name} is pushed: the workflow `release` builds and publishes it")


def git(*arguments: str) -> str:
    """What git prints; it ends this program if it fails."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["rename"]:
            rename()
        case ["check", folder]:
            check(Path(folder))
        case ["c", folder]:
            c(Path(folder))
        case ["npm", folder]:
            npm(Path(folder))
        case ["tag"]:
            tag()
        case _:
            sys.exit(__doc__)
