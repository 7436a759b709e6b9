"""selvage_add_kernel() as an app meets it: projects configured, built and run in temporary folders.

usage: add_kernel_test.py BUILD [UNITTEST ARGS...]    with BUILD, a build tree of selvage
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CACHED = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
CMAKE, NINJA = CACHED["CMAKE_COMMAND"], CACHED["CMAKE_MAKE_PROGRAM"]
DEBIAN_CMAKE = "/usr/bin/cmake"  # 3.25 of Debian 12, the oldest that apps may have
TEMPORARY = pathlib.Path(tempfile.mkdtemp(prefix="add kernel "))
PREFIX = TEMPORARY / "prefix"  # selvage installed
KERNELS = TEMPORARY / "kernels"  # the cache that trees share, unless a test is about it
# Flags and paths of the outer build are no business of what is built here.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8"}
X86, ARM = "x86-64-linux", "arm-64-linux"
NAMES = "edge", "pool", "blur", "norm"  # the app's kernels
APP_KERNELS = {(name, X86) for name in NAMES}


def setUpModule():
    run(CMAKE, "--install", BUILD, "--prefix", PREFIX, "--component", "tool")


def tearDownModule():
    shutil.rmtree(TEMPORARY)


def start(*command):
    return subprocess.run(
        [str(word) for word in command],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(*command):
    """What a command printed; it must succeed."""
    result = start(*command)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def instruction_sets():
    """Those of this CPU."""
    flags = set(
        re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split()
    )
    needs = {
        "sse41": {"sse4_1"},
        "avx2": {"avx2", "fma", "f16c"},
        "avx512": {"avx2", "fma", "f16c", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"},
    }
    return [isa for isa, needed in needs.items() if needed <= flags]


class Tree:
    """A project of this folder, copied, with a build tree of its own."""

    def __init__(self, name, project="app", cmake=CMAKE, generator="Ninja", settings=()):
        self.source = TEMPORARY / name / "source"
        self.build = TEMPORARY / name / "build"
        self.cmake = cmake
        shutil.copytree(HERE / project, self.source)
        taps, channels = np.arange(3), np.arange(3)[:, None, None]
        np.save(self.source / "blur.npy", np.float32(channels + 1 + 10 * taps))
        np.save(self.source / "bias.npy", np.float32([0, 100, 200]))
        self.settings = ["-G", generator, f"-DCMAKE_PREFIX_PATH={PREFIX}"]
        self.settings += [f"-DCMAKE_MAKE_PROGRAM={NINJA}"] if generator == "Ninja" else []
        self.settings += [f"-DSELVAGE_KERNEL_CACHE={KERNELS}", *settings]

    def configure(self, *settings):
        command = [self.cmake, "-S", self.source, "-B", self.build, *self.settings, *settings]
        return start(*command)

    def make(self, *options):
        """Configures if needed and builds; what was printed."""
        if not (self.build / "CMakeCache.txt").exists():
            result = self.configure()
            if result.returncode != 0:
                raise AssertionError(result.stdout)
        return run(self.cmake, "--build", self.build, *options)

    def made(self):
        """Builds, and tells the kernels that were made for it."""
        return set(re.findall(r"Making kernel (\w+) for (\S+)", self.make()))

    def edit(self, old, new):
        file = self.source / "CMakeLists.txt"
        text = file.read_text()
        assert text.count(old) == 1, old
        file.write_text(text.replace(old, new))


class App:
    """The app of app/, built once in one of the ways; each test brings it up to date first."""

    isas = instruction_sets()

    @classmethod
    def setUpClass(cls):
        cls.tree = Tree(cls.__name__, **cls.way)
        cls.first = cls.tree.made()

    def setUp(self):
        self.tree.make()

    def test_all_kernels_are_made(self):
        self.assertEqual(self.first, APP_KERNELS)

    def test_programs_compute_with_every_instruction_set(self):
        expected = "".join(f"{name} {isa}\n" for isa in self.isas for name in NAMES)
        self.assertTrue(self.isas)
        for program in "app_c", "app_cpp":
            self.assertEqual(run(self.tree.build / program), expected)

    def test_shared_libraries_keep_kernels_to_themselves(self):
        symbols = run("nm", "--dynamic", "--defined-only", self.tree.build / "libplugin.so")
        self.assertEqual([line.split()[2] for line in symbols.splitlines()], ["plugin_isa"])

    def test_unchanged_build_does_nothing(self):
        self.assertRegex(self.tree.make(), self.nothing)

    def test_comment_remakes_nothing(self):
        self.tree.edit("# The same program", "# Another remark. The same program")
        self.assertEqual(self.tree.made(), set())

    def test_changed_arguments_remake_one_kernel(self):
        for old, new in ("CHANNELS 4 SAME", "CHANNELS 5 SAME"), ("CHANNELS 5 SAME", "CHANNELS 4 SAME"):
            self.tree.edit(old, new)
            self.assertEqual(self.tree.made(), {("pool", X86)})

    def test_changed_weights_remake_their_kernel(self):
        weights = self.tree.source / "blur.npy"
        once = weights.read_bytes()
        np.save(weights, np.load(weights) + 1)
        self.assertEqual(self.tree.made(), {("blur", X86)})
        self.assertIn("a value of blur", start(self.tree.build / "app_c").stdout)
        weights.write_bytes(once)
        self.assertEqual(self.tree.made(), {("blur", X86)})
        run(self.tree.build / "app_c")


class NinjaTest(App, unittest.TestCase):
    way = {"settings": ["-DCMAKE_BUILD_TYPE=Release"]}
    nothing = r"^ninja: no work to do\."

    def test_programs_in_c_are_linked_by_the_c_compiler(self):
        link = run(NINJA, "-C", self.tree.build, "-t", "commands", "app_c").splitlines()[-1]
        self.assertIn("-o app_c", link)
        self.assertIn(" /usr/bin/cc ", link)
        self.assertNotIn("++", link)


class MakefilesTest(App, unittest.TestCase):
    way = {
        "cmake": DEBIAN_CMAKE,
        "generator": "Unix Makefiles",
        # What others put on every command line must not reach into the archives.
        "settings": [
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS=-flto -D_GLIBCXX_ASSERTIONS",
        ],
    }
    nothing = r"\A(\[ *\d+%\] Built target .*\n)+\Z"


class CacheTest(unittest.TestCase):
    """Generators that cannot run show whether one is needed."""

    @classmethod
    def setUpClass(cls):
        Tree("Filling").make()
        cls.generators = [
            PREFIX / "libexec/selvage" / f"selvage_{kind}_generators" for kind in ("conv", "window")
        ]
        for each in cls.generators:
            each.chmod(0o644)

    @classmethod
    def tearDownClass(cls):
        for each in cls.generators:
            each.chmod(0o755)

    def test_fresh_tree_takes_kernels_from_the_cache(self):
        tree = Tree("Cached")
        tree.make()
        self.assertIn("edge", run(tree.build / "app_c"))

    def test_empty_cache_needs_the_generators(self):
        tree = Tree("Uncached", settings=[f"-DSELVAGE_KERNEL_CACHE={TEMPORARY / 'empty'}"])
        self.assertEqual(tree.configure().returncode, 0)
        result = start(tree.cmake, "--build", tree.build)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stdout, "selvage: .*_generators")


def processors(archive):
    return set(re.findall(r"Machine: +(.*)", run("readelf", "-h", archive)))


class OtherArchitectureTest(unittest.TestCase):
    """The app with an archive for ARM beside its own, and as a whole built for ARM."""

    @classmethod
    def setUpClass(cls):
        toolchain = PREFIX / "lib/cmake/selvage/toolchains/aarch64-linux-gnu.cmake"
        cls.native = Tree("Native", settings=[f"-DMORE_TARGETS={ARM}"])
        cls.cross = Tree("Cross", settings=[f"--toolchain={toolchain}", f"-DMORE_TARGETS={X86}"])
        cls.made = {tree: tree.made() for tree in (cls.native, cls.cross)}
        cls.installed = TEMPORARY / "app"
        run(CMAKE, "--install", cls.native.build, "--prefix", cls.installed)

    def test_kernels_are_made_for_both(self):
        self.assertEqual(self.made[self.native], APP_KERNELS | {("edge", ARM)})
        self.assertEqual(self.made[self.cross], {(name, ARM) for name in NAMES} | {("edge", X86)})
        for tree in self.made:
            self.assertIn("no work to do", tree.make())

    def test_installed_files(self):
        files = {str(f.relative_to(self.installed)) for f in self.installed.rglob("*") if f.is_file()}
        native, other = ["lib/libedge.a", "include/edge.h"], [
            f"lib/libedge-{ARM}.a",
            f"include/{ARM}/edge.h",
        ]
        self.assertEqual(files, {*native, *other})
        self.assertEqual(processors(self.installed / native[0]), {"Advanced Micro Devices X86-64"})
        self.assertEqual(processors(self.installed / other[0]), {"AArch64"})

    def test_cross_build_runs(self):
        """By the emulator that the toolchain file names."""
        printed = run(
            pathlib.Path(CMAKE).with_name("ctest"), "--test-dir", self.cross.build, "--verbose"
        )
        for name in NAMES:
            self.assertEqual(printed.count(f"{name} neon"), 2, printed)
        self.assertEqual(
            processors(self.cross.build / f"libedge-{X86}.a"), {"Advanced Micro Devices X86-64"}
        )

    def test_installed_archive_runs(self):
        """Linked by hand, since it is no target of the native build."""
        program = TEMPORARY / "by_hand"
        headers = [self.installed / "include" / ARM, PREFIX / "include"]
        headers += [self.cross.build / "selvage_kernels" / name / ARM for name in NAMES[1:]]
        archives = [self.installed / f"lib/libedge-{ARM}.a"]
        archives += [self.cross.build / f"lib{name}.a" for name in NAMES[1:]]
        include = [f"-I{folder}" for folder in headers]
        command = ["aarch64-linux-gnu-gcc", *include, self.cross.source / "app.c", *archives, "-lm"]
        run(*command, "-o", program)
        printed = run("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", program)
        self.assertEqual(printed, "".join(f"{name} neon\n" for name in NAMES))


class SubprojectTest(unittest.TestCase):
    def test_fetched_sources(self):
        """The program and the generators are built for the app, then its kernels."""
        root = HERE.parent.parent
        tree = Tree(
            "Fetched",
            settings=[
                f"-DSELVAGE_SOURCE={root}",
                f"-DHalide_DIR={CACHED['Halide_DIR']}",
                "-DSELVAGE_KERNELS=OFF",
            ],
        )
        self.assertEqual(tree.made(), APP_KERNELS)
        self.assertIn("edge", run(tree.build / "app_c"))
        self.assertIn("no work to do", tree.make())


CONV = "OP conv2d KERNEL 3 CHANNELS 4 8"
POOL = "OP max_pool2d KERNEL 3 CHANNELS 4"
KEYWORDS = "OP, KERNEL, STRIDE, DILATION, CHANNELS"
CONVENTIONS = "valid, tf, onnx-upper, onnx-lower, torch, scipy, scipy-correlate2d, causal, keep"
TARGETS = "x86-64, x86-64-sse41, x86-64-avx2, x86-64-avx512, arm-64, arm-64-neon"

# Arguments after the name, and what the message says about them.
REFUSED = [
    ("conv2d KERNEL 3", f"'conv2d' is not a keyword; the keywords are {KEYWORDS}"),
    (f"{CONV} PAD 1 1", f"'PAD' is not a keyword; the keywords are {KEYWORDS}"),
    (f"{CONV} STRIDE 1 STRIDE 2", "STRIDE is given twice"),
    (f"{CONV} STRIDE", "STRIDE has no value"),
    (f"{CONV} STRIDE SAME tf", "STRIDE has no value"),
    ("KERNEL 3 CHANNELS 4", "OP: must be one of conv, depthwise, conv_transpose, max_pool"),
    ("OP conv4d KERNEL 3 CHANNELS 4", "OP conv4d: must be one of conv, depthwise"),
    ("OP convolution2d KERNEL 3 CHANNELS 4", "OP convolution2d: must be one of conv, depthwise"),
    ("OP conv2d KERNEL 3", "CHANNELS is missing"),
    ("OP conv2d CHANNELS 4", "KERNEL is missing"),
    (f"{CONV} ADAPTIVE 1", "conv2d has no ADAPTIVE; it has OP, CHANNELS, KERNEL, STRIDE"),
    (f"{POOL} WEIGHTS blur.npy", "max_pool2d has no WEIGHTS; it has OP, CHANNELS, KERNEL"),
    ("OP stride_sample2d CHANNELS 4 KERNEL 3", "stride_sample2d has no KERNEL; it has"),
    ("OP conv2d KERNEL 3 3 3 CHANNELS 4", "KERNEL 3 3 3: conv2d takes 1 or 2 values here, not 3"),
    ("OP conv3d KERNEL 3 3 CHANNELS 4", "KERNEL 3 3: conv3d takes 1 or 3 values here, not 2"),
    ("OP conv2d KERNEL 0 CHANNELS 4", "KERNEL 0: '0' is not a whole number of at least 1"),
    ("OP conv2d KERNEL 3 x CHANNELS 4", "KERNEL 3 x: 'x' is not a whole number of at least 1"),
    ("OP conv2d KERNEL 3x3 CHANNELS 4", "KERNEL 3x3: '3x3' is not a whole number of at least 1"),
    (f"{CONV} STRIDE 99999999999999999999", "STRIDE 99999999999999999999: '99999999999999999999' is not"),
    (f"{CONV} STRIDE 2 0", "STRIDE 2 0: '0' is not a whole number of at least 1"),
    (f"{CONV} DILATION -1", "DILATION -1: '-1' is not a whole number of at least 1"),
    (f"{CONV} PADS 1 2 3", "PADS 1 2 3: conv2d takes 1 or 4 values here, not 3"),
    (f"{CONV} PADS 1 2 3 1.5", "PADS 1 2 3 1.5: '1.5' is not a whole number"),
    (f"{CONV} PADS 1 SAME tf", "SAME tf: takes the place of PADS, which is given too"),
    (f"{CONV} SAME same", f"SAME same: 'same' is not one of {CONVENTIONS}"),
    (f"{CONV} SAME TF", f"SAME TF: 'TF' is not one of {CONVENTIONS}"),
    (f"{CONV} SAME tf FULL", f"'FULL' is not a keyword; the keywords are {KEYWORDS}"),
    (f"{CONV} STRIDE 2 3 PHASE 1 3", "PHASE 1 3: must be below STRIDE, which is 3"),
    (f"{CONV} PHASE 1 0", "PHASE 1 0: must be below STRIDE, which is 1"),
    (f"{CONV} GROUPS 3", "GROUPS 3: must divide CHANNELS 4 8"),
    ("OP conv2d KERNEL 3 CHANNELS 0", "CHANNELS 0: '0' is not a whole number of at least 1"),
    ("OP conv2d KERNEL 3 CHANNELS 4 8 8", "CHANNELS 4 8 8: conv2d takes 1 or 2 values here, not 3"),
    (
        "OP depthwise2d KERNEL 3 CHANNELS 4 6",
        "CHANNELS 4 6: the outputs must be a multiple of the inputs",
    ),
    ("OP max_pool2d KERNEL 3 CHANNELS 4 4", "CHANNELS 4 4: max_pool2d takes 1 value here, not 2"),
    (f"{CONV} DTYPE f16", "DTYPE f16: 'f16' is not one of f32"),
    (f"{POOL} DTYPE u16", "DTYPE u16: 'u16' is not one of f32, u8, i8"),
    (f"{CONV} LAYOUT NCHW", "LAYOUT NCHW: 'NCHW' is not one of nhwc, nchw"),
    (f"{CONV} LAYOUT hwc", "LAYOUT hwc: 'hwc' is not one of nhwc, nchw"),
    (
        f"{CONV} BORDER mirror",
        "BORDER mirror: 'mirror' is not one of constant, reflect, symmetric, replicate, circular",
    ),
    (
        f"{CONV} BORDER reflect reflect reflect",
        "BORDER reflect reflect reflect: conv2d takes 1 or 2 values here, not 3",
    ),
    (f"{CONV} VALUE one", "VALUE one: 'one' is not a number"),
    (
        f"{CONV} EPILOGUE relu7",
        "EPILOGUE relu7: must be bias, or one of none, relu, relu6, clamp:LOW:HIGH, or both",
    ),
    (f"{CONV} EPILOGUE relu relu6", "EPILOGUE relu relu6: must be bias, or one of"),
    (f"{CONV} EPILOGUE clamp:0", "EPILOGUE clamp:0: must be bias, or one of"),
    (f"{CONV} WEIGHTS none.npy", f"WEIGHTS none.npy: there is no file"),
    (f"{CONV} WEIGHTS blur.bin", "WEIGHTS blur.bin: 'blur.bin' is not a .npy file"),
    (f"{CONV} BIAS bias.npy", "BIAS bias.npy: needs WEIGHTS"),
    (f"{CONV} WEIGHTS blur.npy BIAS bias.npy", "BIAS bias.npy: needs EPILOGUE bias"),
    (
        f"{CONV} WEIGHTS blur.npy EPILOGUE bias",
        "EPILOGUE bias: BIAS, the file of the bias, is missing beside WEIGHTS",
    ),
    (f"{CONV} WEIGHTS_ORDER oihw", "WEIGHTS_ORDER oihw: needs WEIGHTS"),
    (f"{POOL} CEIL 0", "CEIL 0: takes no value"),
    (f"{POOL} INDICES rows", "INDICES rows: 'rows' is not one of none, plane, tensor"),
    (f"{POOL} ORDER column", "ORDER column: needs INDICES"),
    (f"{POOL} NAN drop", "NAN drop: 'drop' is not one of keep, skip"),
    ("OP lp_pool2d KERNEL 3 CHANNELS 4 P 0.5", "P 0.5: must be at least 1"),
    (
        "OP max_pool2d KERNEL 3 CHANNELS 4 ADAPTIVE 2",
        "ADAPTIVE 2: takes the place of KERNEL, which is given too",
    ),
    ("OP filter2d KERNEL 3 CHANNELS 3 FIXED 25", "FIXED 25: '25' is not a shift from 0 to 24"),
    (f"{CONV} IN 56 56 56", "IN 56 56 56: conv2d takes 1 or 2 values here, not 3"),
    (
        f"{CONV} SCHEDULE direct=fast",
        "SCHEDULE direct=fast: 'direct=fast' is not auto, a schedule text, or a .json file",
    ),
    (f"{CONV} SCHEDULE none.json", "SCHEDULE none.json: there is no file"),
    (f"{CONV} TARGETS arm-32-linux", f"TARGETS arm-32-linux: must be of host, {TARGETS}"),
    (
        f"{CONV} TARGETS x86-64-linux-cuda",
        f"TARGETS x86-64-linux-cuda: there are no kernels for GPUs yet; there are host, {TARGETS}",
    ),
    (
        f"{CONV} TARGETS host arm-64-linux-opencl",
        "TARGETS arm-64-linux-opencl: there are no kernels for GPUs yet",
    ),
    # What the program knows, since it is there when CMake runs.
    (f"{CONV} SCHEDULE direct_9x9_c9", "SCHEDULE: 'direct_9x9_c9' is not a schedule of conv"),
    (
        f'{CONV} SCHEDULE "auto strip_rows=99"',
        "schedule: strip_rows=99: conv/",
    ),
    (f"{CONV} IN 1 9", "IN, rows: size 1 with pads 0,0"),
    (
        f"{CONV} WEIGHTS blur.npy",
        f"{TEMPORARY}/Calls/source/blur.npy: has the shape (3, 1, 3), the kernel asks",
    ),
    (f"{CONV} EPILOGUE clamp:6:0", "act=clamp:6:0 needs LOW <= HIGH"),
]


# Arguments, and the problem text and options that the program is called with.
ACCEPTED = [
    ("OP pad2d CHANNELS 3 PADS 1 VALUE -inf", "pad2d c=3 k=3 in=56x56 pads=1,1,1,1 value=-inf"),
    (CONV, "conv2d c=4 k=8 in=58x58 kernel=3x3 bias=0 act=none"),
    (
        "OP conv1d KERNEL 5 DILATION 2 CHANNELS 6 GROUPS 3 SAME causal LAYOUT nchw EPILOGUE relu bias",
        "conv1d c=6 k=6 in=1032 kernel=5 dilation=2 layout=nchw g=3 bias=1 act=relu;--same;causal",
    ),
    (
        "OP conv3d KERNEL 1 2 3 STRIDE 2 CHANNELS 4 PADS 1 2 3 -4 5 6 PHASE 0 1 1 IN 8 9 10"
        " BORDER constant reflect circular VALUE -1.5 EPILOGUE clamp:-1:1e3",
        "conv3d c=4 k=4 in=8x9x10 kernel=1x2x3 stride=2x2x2 pads=1,2,3,-4,5,6 phase=0,1,1"
        " border=constant,reflect,circular value=-1.5 bias=0 act=clamp:-1:1e3",
    ),
    (
        "OP depthwise2d KERNEL 3 CHANNELS 4 8 PADS -1 0 -2 3",
        "depthwise2d c=4 k=8 in=61x58 kernel=3x3 pads=-1,0,-2,3 bias=0 act=none",
    ),
    (
        "OP conv_transpose2d KERNEL 4 STRIDE 2 CHANNELS 8 4 OUTPUT_PADDING 1 0",
        "conv_transpose2d c=8 k=4 in=59x59 kernel=4x4 stride=2x2 output_padding=1,0 bias=0 act=none",
    ),
    (
        f"{POOL} CEIL INDICES tensor ORDER column DTYPE u8",
        "max_pool2d c=4 k=4 in=58x58 kernel=3x3 indices=tensor order=column type=u8 ceil=1",
    ),
    (f"{POOL} NAN skip SCHEDULE any", "max_pool2d c=4 k=4 in=58x58 kernel=3x3 nan=skip;--schedule;any"),
    (
        f'{CONV} SCHEDULE "auto strip_rows=7"',
        "conv2d c=4 k=8 in=58x58 kernel=3x3 bias=0 act=none;--schedule;auto strip_rows=7",
    ),
    (
        f"{CONV} SCHEDULE schedules.json",
        "conv2d c=4 k=8 in=58x58 kernel=3x3 bias=0 act=none;--schedule;"
        f"{TEMPORARY}/Calls/source/schedules.json",
    ),
    ("OP avg_pool2d ADAPTIVE 1 CHANNELS 4", "avg_pool2d c=4 k=4 in=56x56 adaptive=1x1"),
    (
        "OP avg_pool2d KERNEL 2 CHANNELS 4 INCLUDE_PAD",
        "avg_pool2d c=4 k=4 in=57x57 kernel=2x2 include_pad=1",
    ),
    (
        "OP max_pool3d KERNEL 1 2 5 DILATION 1 3 2 CHANNELS 4",
        "max_pool3d c=4 k=4 in=28x31x36 kernel=1x2x5 dilation=1x3x2",
    ),
    ("OP lp_pool1d KERNEL 2 CHANNELS 4 P 1.5", "lp_pool1d c=4 k=4 in=1025 kernel=2 p=1.5"),
    ("OP filter2d KERNEL 5 CHANNELS 3 FIXED 12", "filter2d c=3 k=3 in=60x60 kernel=5x5 weights=fixed:12"),
    (
        "OP stride_sample2d STRIDE 2 PHASE 1 0 CHANNELS 3 DTYPE i8",
        "stride_sample2d c=3 k=3 in=56x56 stride=2x2 phase=1,0 type=i8",
    ),
    ("OP pad2d PADS 1 2 3 4 CHANNELS 3", "pad2d c=3 k=3 in=56x56 pads=1,2,3,4"),
]


class CallsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = Tree("Calls", "calls")
        (cls.tree.source / "calls.cmake").touch()
        cls.tree.configure()  # finds the compiler

    def configure(self, calls, *settings, tree=None):
        """The exit status, and what was printed with all its lines as one."""
        tree = tree or self.tree
        (tree.source / "calls.cmake").write_text(calls)
        result = tree.configure(*settings)
        return result.returncode, " ".join(result.stdout.split())

    def refuses(self, calls, message, *settings, tree=None):
        code, printed = self.configure(calls, *settings, tree=tree)
        self.assertNotEqual(code, 0, calls)
        self.assertIn(message, printed)
        self.assertEqual(printed.count("CMake Error at"), 1, printed)

    def test_what_is_refused(self):
        for arguments, message in REFUSED:
            with self.subTest(arguments):
                self.refuses(f"selvage_add_kernel(k {arguments})", f"selvage_add_kernel(k): {message}")

    def test_names(self):
        self.refuses(f"selvage_add_kernel(2k {CONV})", "(2k): the name must be an identifier of C")
        twice = f"selvage_add_kernel(k {CONV})\nselvage_add_kernel(k {CONV})"
        self.refuses(twice, "(k): there is a target of this name already")
        capitals = f"selvage_add_kernel(Edge {CONV})\nselvage_add_kernel(edge {CONV})"
        self.refuses(capitals, "(edge): the header of kernel Edge has macros of the same names, EDGE_")

    def test_what_is_accepted(self):
        calls = [f"selvage_add_kernel(k{i} {arguments})" for i, (arguments, _) in enumerate(ACCEPTED)]
        code, printed = self.configure("\n".join(calls))
        self.assertEqual(code, 0, printed)
        for i, (_, expected) in enumerate(ACCEPTED):
            problem, *options = expected.split(";")
            words = ["kernel", f"k{i}", problem, *options, "--target", X86]
            words += ["--isa", "sse41", "--isa", "avx2", "--isa", "avx512"]
            command = self.tree.build / "selvage_kernels" / f"k{i}" / X86 / f"k{i}.command"
            self.assertEqual(command.read_text(), ";".join(words) + "\n")

    def test_targets(self):
        folder = self.tree.build / "selvage_kernels"
        for targets, expected in {
            "x86-64-avx512 x86-64-sse41": {X86: "sse41;avx512"},
            "host x86-64-avx2": {X86: "sse41;avx2;avx512"},
            "arm-64": {ARM: "neon"},
            # As Halide spells them.
            f"host {ARM}": {X86: "sse41;avx2;avx512", ARM: "neon"},
            f"{ARM}-neon {X86}-avx2": {X86: "avx2", ARM: "neon"},
        }.items():
            with self.subTest(targets):
                shutil.rmtree(folder, ignore_errors=True)
                code, printed = self.configure(f"selvage_add_kernel(k {CONV} TARGETS {targets})")
                self.assertEqual(code, 0, printed)
                found = {
                    file.parent.name: ";".join(re.findall(r"--isa;(\w+)", file.read_text()))
                    for file in folder.rglob("*.command")
                }
                self.assertEqual(found, expected)

    def test_cross_compilers(self):
        call = f"selvage_add_kernel(k {CONV} TARGETS {ARM})"
        variable = f"SELVAGE_CXX_{ARM}"
        nowhere = [
            f"-DCMAKE_FIND_USE_{paths}=OFF" for paths in ("SYSTEM_ENVIRONMENT_PATH", "CMAKE_SYSTEM_PATH")
        ]
        self.refuses(
            call,
            f"(k): TARGETS {ARM}: no aarch64-linux-gnu-g++ found; install Debian's g++-aarch64-linux-gnu,"
            f" or set {variable} to a compiler for it",
            f"-U{variable}",
            *nowhere,
        )
        self.refuses(
            call,
            f"(k): {variable}=/usr/bin/g++ compiles for 'x86_64-linux-gnu'; must be a C++ compiler for aarch64",
            f"-D{variable}=/usr/bin/g++",
        )
        self.refuses(
            call,
            f"(k): {variable}=/no/compiler does not run; must be a C++ compiler for aarch64",
            f"-D{variable}=/no/compiler",
        )
        code, printed = self.configure(
            call,
            f"-D{variable}=/usr/bin/aarch64-linux-gnu-g++",
            *(way.replace("OFF", "ON") for way in nowhere),
        )
        self.assertEqual(code, 0, printed)

    def test_processors_without_kernels(self):
        system = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64"]
        self.refuses(
            f"selvage_add_kernel(k {CONV})",
            f"(k): TARGETS host: there are no kernels for Linux on 'riscv64'; there are {TARGETS}",
            tree=Tree("Processor", "calls", settings=system),
        )

    def test_languages(self):
        tree = Tree("Languages", "calls")
        tree.edit("LANGUAGES CXX", "LANGUAGES C")
        self.refuses(
            f"selvage_add_kernel(k {CONV})",
            "(k): the wrapper of a kernel is C++: add CXX to the LANGUAGES of project()",
            tree=tree,
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
