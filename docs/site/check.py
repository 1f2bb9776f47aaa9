"""Links of the Markdown files outside docs/: every file they name exists, and every heading."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """The ids that headings get."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    wrong = []
    for name in listed.stdout.split():
        if not (ROOT / name).exists():
            continue
        # What is in a fenced block is no link.
        text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.M | re.S)
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (ROOT / name).parent / path if path else ROOT / name
            if not target.exists():
                wrong.append(f"{name}: {link} does not exist")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                wrong.append(f"{name}: {link}: there is no such heading")
    print("\n".join(wrong), end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
