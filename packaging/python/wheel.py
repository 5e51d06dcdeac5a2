"""Makes the wheel of the program: `wheel.py PROGRAM VERSION PLATFORM DIRECTORY`."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

METADATA = """\
Metadata-Version: 2.4
Name: referee
Version: {version}
Summary: The headless referee for programs that play board games against each other
License-Expression: MIT OR Apache-2.0
{licenses}Keywords: board games,bots,tournament,match,sprt
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: packaging/python/wheel.py
Root-Is-Purelib: false
"""


def main(program: str, version: str, platform: str, directory: str) -> None:
    info = f"referee-{version}.dist-info"
    licenses = sorted(ROOT.glob("LICENSE-*"))
    metadata = METADATA.format(
        version=version,
        licenses="".join(f"License-File: {file.name}\n" for file in licenses),
        description=(ROOT / "packaging/python/README.md").read_text(),
    )
    # One line for each platform that the name of the wheel joins by dots.
    tags = "".join(f"Tag: py3-none-{each}\n" for each in platform.split("."))
    files = {
        f"referee-{version}.data/scripts/referee": Path(program).read_bytes(),
        **{f"{info}/licenses/{file.name}": file.read_bytes() for file in licenses},
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": (WHEEL + tags).encode(),
    }
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(f"{directory}/referee-{version}-py3-none-{platform}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(entry, content)


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
