"""Installs the library, packs it and embeds it, and builds apps against what comes out.

usage: package_test.py SOURCE BUILD CMAKE [unittest arguments]

BUILD is a complete build tree of SOURCE. Apps that use what is installed are built by the system's
CMake (Debian 12: the oldest that they may have), apps that embed the library by CMAKE.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CMAKE = pathlib.Path(sys.argv[3])
SYSTEM_CMAKE = "/usr/bin/cmake"
KERNELS = "selvage_kernels_x86-64-linux"
HERE = SOURCE / "tests" / "package"
# Taps 100000 at row 0, column 0, and 1, 10, 1000, 10000 at the last two columns of rows 1 and 2.
RESULT = "0.2.0: ok; 100000 131087\n"

# What builds here is no business of the outer build.
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


def words(text):
    """Text without the line breaks that CMake puts into its messages."""
    return " ".join(text.split())


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def setting(name):
    """A variable of the outer build."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    return re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)[1]


def build_consumer(prefix, folder, components, language="CXX", *arguments):
    """The program of an app that finds components of the library in `prefix`."""
    run(SYSTEM_CMAKE, "-S", HERE / "consumer", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCOMPONENTS={components}", f"-DLANGUAGE={language}", *arguments)
    run(SYSTEM_CMAKE, "--build", folder)
    return folder / "consumer"


class TemporaryFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()


class InstallTree(TemporaryFolder):
    """The tree of `cmake --install`, component by component, after it was moved."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.components = {}
        for component in "runtime", "tool":
            installed = cls.folder / "installed" / component
            run(CMAKE, "--install", BUILD, "--component", component, "--prefix", installed)
            (cls.folder / "moved to").mkdir(exist_ok=True)
            cls.components[component] = installed.rename(cls.folder / "moved to" / component)
        cls.runtime, cls.tool = cls.components["runtime"], cls.components["tool"]

    def test_files(self):
        common = {
            "include/selvage/version.h",
            "lib/cmake/selvage/selvageConfig.cmake",
            "lib/cmake/selvage/selvageConfigVersion.cmake",
            "lib/cmake/selvage/SelvageArchitectures.cmake",
            "share/doc/selvage/THIRD-PARTY-LICENSES",
            "share/doc/selvage/copyright",
            "share/doc/selvage/README.md",
        } | {f"share/doc/selvage/docs/{page}" for page in files(SOURCE / "docs") if re.search(r"\.(md|png|svg)$", page)}
        common |= {
            f"share/doc/selvage/demos/{file}"
            for file in files(SOURCE / "demos")
            if not re.search(r"^CMakeLists.txt$|^showcase/|/build/", file)
        }
        common |= {f"include/{header}" for header in files(SOURCE / "runtime") if re.match(r"selvage/.*\.h$", header)}
        expected = {
            "runtime": {
                "lib/libselvage.a",
                f"lib/lib{KERNELS}.a",
                "lib/cmake/selvage/selvageRuntime-x86-64-linux.cmake",
                "lib/cmake/selvage/selvageRuntime-x86-64-linux-release.cmake",
                "lib/pkgconfig/selvage.pc",
            },
            "tool": {
                "bin/selvage",
                "libexec/selvage/libHalide.so",
                "libexec/selvage/selvage_conv_generators",
                "libexec/selvage/selvage_window_generators",
                "lib/cmake/selvage/SelvageAddKernel.cmake",
                "lib/cmake/selvage/SelvageKernelArguments.cmake",
                "lib/cmake/selvage/selvageTool.cmake",
                "lib/cmake/selvage/selvageTool-release.cmake",
                "lib/cmake/selvage/toolchains/aarch64-linux-gnu.cmake",
            },
        }
        for component, prefix in self.components.items():
            self.assertEqual(files(prefix), common | expected[component], component)

    def test_no_file_names_a_path_of_the_build(self):
        paths = [str(SOURCE), str(BUILD), str(self.folder), setting("Halide_DIR")]
        for prefix in self.components.values():
            for name in files(prefix) - {"libexec/selvage/libHalide.so"}:
                content = (prefix / name).read_bytes()
                self.assertEqual([path for path in paths if path.encode() in content], [], name)

    def test_archives_need_no_halide(self):
        for archive in self.runtime.glob("lib/*.a"):
            symbols = run("nm", "-C", "--undefined-only", archive)
            self.assertNotRegex(symbols, r"(?m) (halide_|Halide::)", archive)

    def test_programs_run_where_they_are(self):
        for generators in "conv", "window":
            program = self.tool / f"libexec/selvage/selvage_{generators}_generators"
            self.assertIn(f"{program.parent}/libHalide.so", run("ldd", program))
            self.assertIn("available Generators are:", run(program, fails=True))
        self.assertIn("outputs  112\n", run(self.tool / "bin/selvage", "window", "--size", "224", "--kernel", "3",
                                            "--stride", "2", "--same", "tf"))

    def test_find_package(self):
        for language in "CXX", "C":
            program = build_consumer(self.runtime, self.folder / f"find_package_{language}", "runtime", language)
            self.assertEqual(run(program), RESULT, language)

    def test_pkg_config(self):
        for source, compiler in ("consumer.cpp", "g++"), ("consumer.c", "gcc"):
            flags = run("pkg-config", "--cflags", "--libs", "selvage",
                        PKG_CONFIG_PATH=str(self.runtime / "lib/pkgconfig"))
            program = self.folder / source.replace(".", "_")
            run(compiler, HERE / "consumer" / source, "-o", program, *shlex.split(flags))
            self.assertEqual(run(program), RESULT, source)

    def test_copies_in_one_program(self):
        """Two shared libraries, one built by CMake, one by pkg-config, and a program over them: each
        with a static copy of the library, told apart by another version in its archive."""
        folder = self.folder / "copies"
        flags = {}
        for name, version in ("own", "0.2.0"), ("one", "1.1.1"), ("two", "2.2.2"):
            prefix = shutil.copytree(self.runtime, folder / name)
            archive = prefix / "lib/libselvage.a"
            content = archive.read_bytes()
            self.assertIn(b"\x000.2.0\x00", content)
            archive.write_bytes(content.replace(b"\x000.2.0\x00", f"\x00{version}\x00".encode()))
            flags[name] = shlex.split(run("pkg-config", "--cflags", "--libs", "selvage",
                                          PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")))
        build_consumer(folder / "one", folder, "runtime", "C", "-DFUNCTION=one")
        source = HERE / "consumer/consumer.c"
        run("gcc", "-shared", "-fPIC", "-Dmain=two", source, "-o", folder / "libtwo.so", *flags["two"])
        run("gcc", "-c", "-Dmain=own", source, "-o", folder / "own.o", *flags["own"])
        program = folder / "program"
        run("gcc", HERE / "consumer/copies.c", folder / "own.o", "-o", program, f"-L{folder}", "-lone", "-ltwo",
            f"-Wl,-rpath,{folder},--export-dynamic", *flags["own"])
        self.assertEqual(run(program), "".join(f"{version}: ok; 100000 131087\n"
                                               for version in ("0.2.0", "1.1.1", "2.2.2")))
        for name in "one", "two":
            symbols = run("nm", "-D", "--defined-only", folder / f"lib{name}.so")
            self.assertEqual([line.split()[2] for line in symbols.splitlines()], [name])

    def test_other_versions_are_refused(self):
        for version, fails in ("0.2", False), ("0.2.0", False), ("0.1", True), ("0.3", True), ("1.0", True):
            self.find("find_package(selvage %s CONFIG REQUIRED)" % version, fails)

    def find(self, line, fails, prefix=None, *arguments):
        """Configures an app with that line."""
        folder = self.folder / "find"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.10)\nproject(app NONE)\n{line}\n"
        )
        return words(run(SYSTEM_CMAKE, "-S", folder, "-B", folder / "build",
                         f"-DCMAKE_PREFIX_PATH={prefix or self.runtime}", *arguments, fails=fails))

    def test_missing_component(self):
        for component, prefix in ("tool", self.runtime), ("runtime", self.tool), ("gpu", self.tool):
            text = self.find(f"find_package(selvage CONFIG REQUIRED COMPONENTS {component})", True, prefix)
            self.assertIn(f"has no component '{component}'", text)
            self.assertIn("cmake --install BUILD --component NAME", text)

    def test_other_architecture(self):
        """Has the tool, which makes kernels for it, but not the library."""
        arm = "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"
        for prefix, components in (self.runtime, ""), (self.runtime, "COMPONENTS runtime"):
            text = self.find(f"find_package(selvage CONFIG REQUIRED {components})", True, prefix, *arm)
            self.assertIn(f"the library in {self.runtime} is for x86-64-linux, not for Linux on aarch64. Kernels for "
                          "64-bit ARM also come from selvage_add_kernel(): find_package(selvage COMPONENTS tool).",
                          text)
        for components in "", "COMPONENTS tool":
            self.find(f"find_package(selvage CONFIG REQUIRED {components})\nif(TARGET selvage::selvage)\n"
                      "message(FATAL_ERROR library)\nendif()", False, self.tool, *arm)

    def test_old_cmake(self):
        text = self.find("set(CMAKE_VERSION 3.24.9)\nfind_package(selvage CONFIG REQUIRED)", True)
        self.assertIn("selvage needs CMake 3.25 or later, this is 3.24.9. `pip install cmake` brings a newer one.", text)


class Packages(TemporaryFolder):
    """What CPack writes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(CMAKE.parent / "cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB;TGZ", "-B", cls.folder)

    def test_deb(self):
        package = self.folder / "selvage_0.2.0_amd64.deb"
        depends = run("dpkg-deb", "--field", package, "Depends")
        self.assertRegex(depends, r"\blibc6 \(>= 2\.\d+\)")
        self.assertRegex(depends, r"\blibstdc\+\+6 \(>= \d+")
        self.assertNotIn("alide", depends)
        self.assertEqual(run("dpkg-deb", "--field", package, "Recommends"), "cmake (>= 3.25), g++, binutils\n")
        self.assertIn(self.__class__.description(), run("dpkg-deb", "--field", package, "Description"))

        tree = self.folder / "deb tree"
        run("dpkg-deb", "-x", package, tree)
        self.assertEqual((tree / "usr/share/doc/selvage/copyright").read_text(), (SOURCE / "LICENSE").read_text())
        program = build_consumer(tree / "usr", self.folder / "deb", "runtime;tool")
        self.assertEqual(run(program), RESULT)

    def test_tar(self):
        run("tar", "-xf", self.folder / "selvage-0.2.0-x86_64-linux.tar.gz", "-C", self.folder)
        tree = self.folder / "selvage-0.2.0-x86_64-linux"
        self.assertEqual({path.name for path in tree.iterdir()}, {"bin", "include", "lib", "libexec", "share"})
        program = build_consumer(tree, self.folder / "tar", "runtime;tool")
        self.assertEqual(run(program), RESULT)

    @staticmethod
    def description():
        return setting("CMAKE_PROJECT_DESCRIPTION")


class Embedded(TemporaryFolder):
    """The library in an app's own build: shared, by Makefiles, for debugging, with kernels that are
    compiled already, and then without."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.build = cls.folder / "build"
        cls.installed = cls.folder / "installed"
        cls.configure(f"-DSELVAGE_KERNELS={BUILD / 'kernels'}", f"-DCMAKE_INSTALL_PREFIX={cls.installed}")

    @classmethod
    def configure(cls, *arguments):
        run(CMAKE, "-S", HERE / "embedding", "-B", cls.build, "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Debug",
            f"-DSELVAGE_SOURCE={SOURCE}", "-DBUILD_SHARED_LIBS=ON", "-DSELVAGE_TOOL=OFF", *arguments)
        run(CMAKE, "--build", cls.build, "-j2")

    def test_1_program(self):
        self.assertEqual(run(self.build / "consumer"), RESULT)
        self.assertIn("libselvage.so.0.2 =>", run("ldd", self.build / "consumer"))

    def test_2_nothing_leaks_into_the_app(self):
        targets = set(re.findall(r"^\.\.\. ([\w-]+)(?: |$)", run("make", "-C", self.build, "help"), re.MULTILINE))
        self.assertEqual({name for name in targets if "selvage" in name}, {"selvage", KERNELS})
        self.assertFalse(targets & {"oracle", "demo", "conv_test", "layer_bench", "package"})
        commands = (self.build / "compile_commands.json").read_text()
        command = re.search(r'"command": "(.*consumer\.cpp)"', commands)[1]
        self.assertNotRegex(command, "-Wall|-Wextra|-fvisibility|[hH]alide")
        run(CMAKE, "--install", self.build)
        self.assertFalse(self.installed.exists())

    def test_3_exported_symbols(self):
        """All that the headers mark, and nothing else."""
        headers = "\n".join(path.read_text() for path in SOURCE.glob("runtime/selvage/**/*.h"))
        lines = run("nm", "-DC", "--defined-only", self.build / "selvage/runtime/libselvage.so").splitlines()
        names = {line.split(" ", 2)[2] for line in lines if line.split()[1] in "TDBR"}
        c_names = {name for name in names if "::" not in name}
        self.assertEqual(c_names, set(re.findall(r"\bSELVAGE_API [\w *]*?\b(selvage_\w+)\(", headers)))
        self.assertGreater(len(c_names), 10)
        marked = set(re.findall(r"\bSELVAGE_API [\w:<> *&]*?\b(operator==|\w+)\(", headers))
        marked |= set(re.findall(r"\bclass SELVAGE_API (\w+)", headers))
        for name in names - c_names:
            self.assertIn(re.match(r"selvage::(operator==|\w+)", name)[1], marked, name)

    def test_4_install(self):
        self.configure("-DSELVAGE_INSTALL=ON")
        run(CMAKE, "--install", self.build)
        self.assertIn("libselvage.so.0.2.0", {path.name for path in self.installed.glob("lib/*")})
        self.assertEqual([path.name for path in self.installed.glob("lib/*.a")], [])
        moved = self.installed.rename(self.folder / "moved to")
        program = build_consumer(moved, self.folder / "consumer", "runtime")
        self.assertEqual(run(program), RESULT)
        self.assertIn(f"{moved}/lib/libselvage.so.0.2", run("ldd", program))

    def test_5_schedules_outside_the_tree(self):
        """A table of the app's own comes before the shipped ones; it takes kernels of its own."""
        self.assertNotIn("columns_first", run(self.build / "kernel"))
        table = self.folder / "table.json"
        for name in "direct_{}_c16", "columns_first_{}_c64":
            table.write_text(json.dumps({"schedules": [
                {"problem": "conv2d c=1 k=1 in=3x4 kernel=2x3 pads=1,2,0,1", "isa": isa,
                 "schedule": name.format(tile)}
                for isa, tile in (("sse41", "6x2"), ("avx2", "6x2"), ("avx512", "14x2"))]}))
            self.configure(f"-DSELVAGE_KERNELS={BUILD / 'kernels'}", f"-DHalide_DIR={setting('Halide_DIR')}",
                           f"-DSELVAGE_EXTRA_SCHEDULES={SOURCE / 'demos/my_schedule'}",
                           f"-DSELVAGE_SCHEDULES={table}")
            self.assertRegex(run(self.build / "kernel"), f"^conv/{name.format('[0-9]+x2')}/")
            self.assertEqual(run(self.build / "consumer"), RESULT)

    def test_6_without_kernels(self):
        self.configure("-DSELVAGE_KERNELS=OFF")
        self.assertEqual(run(self.build / "consumer"),
                         "0.2.0: this build of selvage has no kernels (SELVAGE_KERNELS=OFF); configure and build it "
                         "with -DSELVAGE_KERNELS=ON; 0 0\n")


class Configuring(TemporaryFolder):
    """Configurations that are refused, each with a line that names the fix; and large ones."""

    def refused(self, *arguments):
        folder = self.folder / "refused"
        shutil.rmtree(folder, ignore_errors=True)
        return words(run(CMAKE, "-S", SOURCE, "-B", folder, *arguments, fails=True))

    def test_old_cmake(self):
        script = self.folder / "old.cmake"
        script.write_text(f"set(CMAKE_VERSION 3.27.9)\ninclude({SOURCE}/CMakeLists.txt)\n")
        text = words(run(CMAKE, "-P", script, fails=True))
        self.assertIn("selvage is built with CMake 3.28 or later, which Halide asks for; this is 3.27.9. "
                      "`pip install cmake` brings a newer one.", text)

    def test_no_halide(self):
        text = self.refused("-DCMAKE_DISABLE_FIND_PACKAGE_Halide=ON")
        self.assertIn("selvage needs Halide: `pip install halide==21.0.0`, then configure with "
                      "-DHalide_DIR=SITE_PACKAGES/halide/lib64/cmake/Halide", text)

    def test_no_cli11(self):
        text = self.refused(f"-DHalide_DIR={setting('Halide_DIR')}", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON")
        self.assertIn("selvage needs CLI11: `apt-get install libcli11-dev`", text)

    def test_other_architecture(self):
        text = self.refused("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64")
        self.assertIn("selvage is built for Linux on x86-64 or 64-bit ARM, not for Linux on riscv64.", text)

    def test_cross_build(self):
        arm = "--toolchain", SOURCE / "cmake/toolchains/aarch64-linux-gnu.cmake"
        self.assertIn("A cross build takes its generators from a build of these sources for this machine: configure "
                      "with -DSELVAGE_GENERATORS=BUILD/bin", self.refused(*arm))
        self.assertIn(f"SELVAGE_GENERATORS is '{self.folder}', which has no selvage_conv_generators: it must be the "
                      "full path of the folder bin/ of a build tree for this machine",
                      self.refused(*arm, f"-DSELVAGE_GENERATORS={self.folder}"))
        self.assertIn("holds no kernels for arm-64-linux compiled from these sources",
                      self.refused(*arm, f"-DSELVAGE_KERNELS={BUILD / 'kernels'}"))

    def test_kernels(self):
        for value in "/no/such/folder", "tests", "MAYBE":
            text = self.refused(f"-DSELVAGE_KERNELS={value}")
            self.assertIn(f"SELVAGE_KERNELS is '{value}', not ON, OFF or the full path of a folder of compiled "
                          "kernels", text)

    def test_schedules_outside_the_tree(self):
        text = self.refused("-DSELVAGE_EXTRA_SCHEDULES=/no/such/folder")
        self.assertIn("SELVAGE_EXTRA_SCHEDULES is '/no/such/folder', which has no kernels.cmake", text)
        folder = self.folder / "extra"
        folder.mkdir()
        (folder / "mine.h").touch()
        for words_of_row in "family=direct function=other", "function=mine":
            (folder / "kernels.cmake").write_text(f"selvage_kernel(conv mine sse41 {words_of_row})\n")
            text = self.refused(f"-DSELVAGE_EXTRA_SCHEDULES={folder}", f"-DHalide_DIR={setting('Halide_DIR')}")
            name = words_of_row.split("function=")[1]
            self.assertIn(f"selvage_kernel(conv mine sse41): function={name} needs a family other than the "
                          f"reference, and {name}.h in SELVAGE_EXTRA_SCHEDULES", text)

    def test_kernels_of_other_sources(self):
        kernels = self.folder / "kernels"
        kernels.mkdir()
        hashes = (BUILD / "kernels/stamp").read_text()
        self.assertIn("generators/conv.cpp", hashes)
        for stamp in None, re.sub(r"^.", lambda digit: "1" if digit[0] == "0" else "0", hashes):
            if stamp:
                (kernels / "stamp").write_text(stamp)
            text = self.refused(f"-DSELVAGE_KERNELS={kernels}", "-DSELVAGE_TOOL=OFF")
            self.assertIn(f"SELVAGE_KERNELS is '{kernels}', which holds no kernels for x86-64-linux compiled from "
                          "these sources: it must be the folder kernels/ of a complete build tree of them", text)

    def test_app_without_cxx(self):
        app = self.folder / "app in C"
        app.mkdir()
        (app / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.28)\nproject(app C)\nadd_subdirectory({SOURCE} selvage)\n"
        )
        text = words(run(CMAKE, "-S", app, "-B", app / "build", fails=True))
        self.assertIn("selvage is C++: add CXX to the LANGUAGES of your app's project()", text)

    def test_folders_to_install_in(self):
        """An absolute one for libraries, as some distributions have it; programs below another folder."""
        folder, library, installed = (self.folder / name for name in ("folders", "own/lib", "own/tree"))
        run(CMAKE, "-S", SOURCE, "-B", folder, "-DSELVAGE_DEVELOPER=OFF", f"-DSELVAGE_KERNELS={BUILD / 'kernels'}",
            f"-DHalide_DIR={setting('Halide_DIR')}", f"-DCMAKE_INSTALL_LIBDIR={library}",
            "-DCMAKE_INSTALL_BINDIR=programs/bin", f"-DCMAKE_INSTALL_PREFIX={installed}")
        for variable, value in ("libdir", library), ("includedir", installed / "include"):
            found = run("pkg-config", f"--variable={variable}", "selvage", PKG_CONFIG_PATH=str(folder))
            self.assertEqual(found, f"{value}\n")
        (folder / "bin").mkdir(exist_ok=True)
        for program in (BUILD / "bin").glob("selvage*"):
            shutil.copy(program, folder / "bin")
        run(CMAKE, "--install", folder, "--component", "tool")
        programs = {name for name in files(installed) if re.search("^programs|libexec", name)}
        self.assertEqual(programs, {"programs/bin/selvage", *(
            f"programs/libexec/selvage/{name}"
            for name in ("libHalide.so", "selvage_conv_generators", "selvage_window_generators"))})
        self.assertTrue((library / "cmake/selvage/selvageTool.cmake").exists())

    def test_all_kernels_by_makefiles(self):
        folder = self.folder / "makefiles"
        run(CMAKE, "-S", SOURCE, "-B", folder, "-G", "Unix Makefiles", "-DSELVAGE_DEVELOPER=OFF",
            "-DSELVAGE_KERNELS=TRUE", f"-DHalide_DIR={setting('Halide_DIR')}")
        # A dry run looks for the programs that it does not build.
        (folder / "bin").mkdir(exist_ok=True)
        for generators in "conv", "window":
            (folder / f"bin/selvage_{generators}_generators").touch()
        plan = run("make", "-n", "-C", folder, KERNELS)
        rows = (BUILD / "runtime/kernel_rows.inc").read_text().count("_argv},")
        self.assertGreater(rows, 400)
        self.assertEqual(len(set(re.findall(r"Generating kernel (\S+)", plan))), rows)


class Rebuild(unittest.TestCase):
    def test_nothing_to_do(self):
        self.assertIn("ninja: no work to do.", run(setting("CMAKE_MAKE_PROGRAM"), "-C", BUILD, "-n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
