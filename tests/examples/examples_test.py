"""Follows the README of every example: each folder of demos/ is built on its own, against what is
installed, and its program must print what the page says and end well.

usage: examples_test.py BUILD CMAKE PNG_FILTER [unittest arguments]

BUILD is a complete build tree, of which CMAKE made PNG_FILTER. Examples are built by the system's
CMake, which on Debian 12 is the oldest that they may have; where there is none, by CMAKE.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, CMAKE, PNG_FILTER = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMOS = ROOT / "demos"
PICTURE = ROOT / "docs" / "images" / "contact_sheet.png"

sys.path.insert(0, str(ROOT / "docs"))
from check_examples import Page  # noqa: E402


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        prefix = cls.folder / "prefix"
        subprocess.run(
            [CMAKE, "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
        )
        os.environ["PREFIX"] = str(prefix)
        os.environ["PATH"] = f"/usr/bin:/bin:{CMAKE.parent}"
        os.environ.pop("MAKEFLAGS", None)  # what builds here is no business of the outer build

    def follow(self, name):
        """Does what the README says, in a folder that has nothing but the example and a picture."""
        session = self.folder / name
        shutil.copytree(DEMOS / name, session / "demos" / name)
        shutil.copy(PICTURE, session / "picture.png")
        with contextlib.chdir(session):
            page = Page(DEMOS / name / "README.md")
            self.assertTrue(page.check(), f"demos/{name}/README.md; what differs is above")
        self.assertGreaterEqual(page.tried, 3, "a page has commands to configure, build and run")
        return session

    def test_examples(self):
        names = {file.parent.name for file in DEMOS.glob("*/CMakeLists.txt")} - {"png_filter"}
        self.assertGreaterEqual(len(names), 5)
        for name in sorted(names):
            with self.subTest(name):
                self.follow(name)

    def test_png_filter(self):
        """Its picture is that of the program whose filters are tested (demos_test)."""
        session = self.follow("png_filter")
        expected = session / "expected.png"
        flags = ["--filter", "gaussian", "--size", "5", "--border", "reflect"]
        subprocess.run([PNG_FILTER, PICTURE, expected, *flags], check=True)
        self.assertEqual((session / "filtered.png").read_bytes(), expected.read_bytes())


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main(verbosity=2)
