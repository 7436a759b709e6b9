"""Apps for ARM, built on another machine: one prefix holds the library for ARM and the tool of the machine
that builds, each installed from its own build tree.

usage: cross_test.py SOURCE BUILD HOST_BUILD CMAKE EMULATOR...

BUILD is the build tree for ARM, HOST_BUILD that of the machine that builds. Apps are built by the system's
CMake (Debian 12: the oldest that they may have).
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, HOST_BUILD, CMAKE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
EMULATOR = sys.argv[5:]
SYSTEM_CMAKE = "/usr/bin/cmake"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8"}


def run(*command, fails=False, **environment):
    """What the command prints; it must end with 0, or with another status where it `fails`."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{shlex.join(map(str, command))}: {done.returncode}\n{done.stdout}")
    return done.stdout


class Cross(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        cls.prefix = cls.folder / "prefix"
        for build, component in (BUILD, "runtime"), (HOST_BUILD, "tool"):
            run(CMAKE, "--install", build, "--component", component, "--prefix", cls.prefix)

    def configure(self, source, folder, *arguments, fails=False):
        return run(SYSTEM_CMAKE, "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", *arguments,
                   fails=fails)

    def output_of(self, example):
        """What the program of an example prints."""
        toolchain = self.prefix / "lib/cmake/selvage/toolchains/aarch64-linux-gnu.cmake"
        folder = self.folder / example
        self.configure(SOURCE / "demos" / example, folder, f"--toolchain={toolchain}")
        run(SYSTEM_CMAKE, "--build", folder)
        return run(*EMULATOR, folder / example)

    def test_library(self):
        printed = self.output_of("views")
        self.assertRegex(printed, r"^kernel conv/\w+/neon\n")
        self.assertIn("3840 of 3840 results are right, 14592 of 14592 other elements untouched", printed)

    def test_kernel_of_the_app(self):
        self.assertEqual(self.output_of("cross_arm"), "neon: 4 4 12 20 12 8 16 20 20 20\n")

    def test_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "selvage",
                    PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        for source, compiler in ("consumer.cpp", "g++"), ("consumer.c", "gcc"):
            program = self.folder / source.replace(".", "_")
            run(f"aarch64-linux-gnu-{compiler}", SOURCE / "tests/package/consumer" / source, "-o", program,
                *shlex.split(flags))
            self.assertRegex(run(*EMULATOR, program), r": ok; 100000 131087\n$")

    def test_archives(self):
        archives = sorted(self.prefix.glob("lib/*.a"))
        self.assertEqual([path.name for path in archives], ["libselvage.a", "libselvage_kernels_arm-64-linux.a"])
        for archive in archives:
            self.assertEqual(set(re.findall(r"Machine: +(.*)", run("readelf", "-h", archive))), {"AArch64"})
            self.assertNotRegex(run("nm", "-C", "--undefined-only", archive), r"(?m) (halide_|Halide::)")

    def test_app_for_the_machine_that_builds(self):
        """Finds the tool, not the library."""
        text = self.configure(SOURCE / "tests/package/consumer", self.folder / "native", "-DLANGUAGE=CXX",
                              "-DCOMPONENTS=runtime", fails=True)
        self.assertIn(f"the library in {self.prefix} is for arm-64-linux, not for Linux on x86_64.",
                      " ".join(text.split()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
