"""Holds schedule_bench and the report to what README.md of bench/ says, on layers that take a moment.

usage: report_test.py BUILD [unittest arguments]
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = pathlib.Path(__file__).resolve().parent
# Outputs of one size, but other pads: a kernel of the one is a wrong kernel of the other.
LAYER = "conv2d c=4 k=16 in=9x9 kernel=3 pads=1,1,1,1"
SHIFTED = "conv2d c=4 k=16 in=9x9 kernel=3 pads=2,0,0,2"
POOL = "max_pool2d c=16 in=9x9 kernel=3 stride=2"

LIMIT = 4  # seconds of a processor; Adams2019 may need more, which is an error in the results as any other

LAYER_FIELDS = {"name", "problem", "operations", "bytes"}
ALL_FIELDS = {"layer", "threads", "layout", "schedule", "kind", "kernel", "status", "text"}
TIMED_FIELDS = {"milliseconds", "ratio", "lower_quartile", "upper_quartile", "turns", "gflops", "gbs",
                "fraction", "bound", "best_of_family"}


def bench(*arguments):
    return subprocess.run([BUILD / "bin/schedule_bench", *map(str, arguments)], text=True,
                          capture_output=True)


class Tags(html.parser.HTMLParser):
    """Tags that are open, and attributes that would load something."""

    ALONE = {"meta", "input", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.faults = [], []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        for name, value in attributes:
            inside = name != "src" and (value or "").startswith("#")
            if name in ("src", "href", "xlink:href", "data") and not inside:
                self.faults.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.cache = cls.folder / "cache"
        cls.measured = cls.measure(LAYER, POOL)

    @classmethod
    def measure(cls, *problems):
        done = bench(*problems, "--quick", "--threads", "1,2", "--autoschedule", LIMIT, "--cache",
                     cls.cache, "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def render(self, results, *arguments):
        measured, output = self.folder / "measured.json", self.folder / "report"
        measured.write_text(json.dumps(results))
        subprocess.run([sys.executable, FOLDER / "report.py", measured, "--build", BUILD, "-o",
                        output, *arguments], check=True, stdout=subprocess.DEVNULL)
        return output

    def test_measurements_have_all_fields(self):
        self.assertEqual(self.measured["schema"], 1)
        self.assertEqual([each["threads"] for each in self.measured["ceilings"]], [1, 2])
        for ceiling in self.measured["ceilings"]:
            self.assertGreater(ceiling["gflops"], 0)
            self.assertEqual([each["level"] for each in ceiling["bandwidths"]],
                             ["L1", "L2", "L3", "DRAM"])
        for layer in self.measured["layers"]:
            self.assertEqual(layer.keys(), LAYER_FIELDS)
        for each in self.measured["results"]:
            self.assertLessEqual(ALL_FIELDS, each.keys())
            if each["status"] == "ok":
                self.assertLessEqual(TIMED_FIELDS, each.keys())
                for field in "milliseconds", "ratio", "gflops", "gbs", "fraction":
                    self.assertGreater(each[field], 0, (field, each))
                self.assertLessEqual(each["lower_quartile"], each["upper_quartile"])
            else:
                self.assertTrue(each["reason"])

    def test_every_kind_is_there(self):
        for layer in self.measured["layers"]:
            for threads in 1, 2:
                of_layer = {each["schedule"]: each for each in self.measured["results"]
                            if (each["layer"], each["threads"]) == (layer["name"], threads)}
                for schedule in "tuned", "cost model", "reference", "Mullapudi2016", "Li2018":
                    self.assertEqual(of_layer[schedule]["status"], "ok", of_layer[schedule])
                self.assertIn("Adams2019", of_layer)
                self.assertIn("Adams2019 greedy", of_layer)
                self.assertTrue(any(each["kind"] == "family" for each in of_layer.values()))
                self.assertEqual(of_layer["tuned"]["ratio"], 1)
                self.assertGreater(of_layer["Li2018"]["code_bytes"], 0)
                self.assertGreater(of_layer["Li2018"]["compile_seconds"], 0)

    def test_page_is_one_file(self):
        output = self.render(self.measured)
        page = (output / "index.html").read_text()
        tags = Tags()
        tags.feed(page)
        tags.close()
        self.assertEqual((tags.faults, tags.open), ([], []))
        self.assertEqual(re.findall(r"url\((?!#)|@import|fetch\(", page), [])
        self.assertIn("Not measured:", page)  # the sweep
        self.assertEqual(len(re.findall("<svg ", page)), 6)
        names = re.findall(r'\bid="([^"]*)"', page)
        self.assertEqual(len(names), len(set(names)))
        for name in "roofline", "fraction", "ratio":
            for threads in 1, 2:
                self.assertEqual((output / f"{name}_{threads}.png").read_bytes()[:4], b"\x89PNG")
        written = json.loads((output / "results.json").read_text())
        for each, measured in zip(written["results"], self.measured["results"]):
            self.assertEqual({**each, **measured}, each)

    def test_sweep_is_drawn(self):
        sizes = [{"size": size, "milliseconds": size * (2 if size == 9 else 1), "work": size,
                  "cliff": size == 9} for size in (7, 8, 9)]
        sweep = self.folder / "sweep.json"
        sweep.write_text(json.dumps({"sweeps": [{"name": "pool", "grows": "map", "sizes": sizes}]}))
        page = (self.render(self.measured, "--sweep", sweep) / "index.html").read_text()
        self.assertIn("Crosses: 1 sizes", page)
        self.assertNotIn("Not measured:", page)

    def test_wrong_kernel_is_an_error(self):
        """Kernels of one problem in the places of those of another."""
        before = set(self.cache.glob("*.so"))
        self.measure(SHIFTED)
        wrong, *_ = set(self.cache.glob("*.so")) - before
        for library in before - {self.cache / "halide_runtime.so"}:
            self.addCleanup(shutil.copy, shutil.copy(library, self.folder), library)
            shutil.copy(wrong, library)
        results = self.measure(LAYER)
        rivals = [each for each in results["results"]
                  if each["kind"] == "autoscheduler" and "no schedule" not in each.get("reason", "")]
        self.assertGreaterEqual(len(rivals), 2)
        for each in rivals:
            self.assertEqual(each["status"], "error", each)
            self.assertNotIn("ratio", each)
            self.assertIn("wrong result: output", each["reason"])
        page = (self.render(results) / "index.html").read_text()
        self.assertIn("error: wrong result: output", page)


class ProblemBench(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_table_and_text_of_the_kernel_that_ran(self):
        for form, word in ("stmt", "produce"), ("asm", ".text"):
            kernel = self.folder / f"kernel.{form}"
            done = bench(LAYER, "--quick", "--emit", form, "-o", kernel)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("| tuned | conv/", done.stdout)
            self.assertIn(word, kernel.read_text())

    def test_one_schedule_and_its_text_on_stdout(self):
        done = bench(POOL, "--quick", "--schedule", "reference", "--emit", "stmt")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("selvage_max_pool_reference_", done.stdout)
        self.assertNotIn("| tuned |", done.stdout)
        self.assertIn("| asked for | max_pool/reference/", done.stderr)

    def test_problems_without_loops_are_held_to_the_reference(self):
        for problem in ("lp_pool2d c=16 in=9x9 kernel=3 p=3", "pad2d c=3 in=5x5 pads=1,2,3,4 border=reflect",
                        "max_pool2d c=16 in=9x9 kernel=3 indices=tensor type=i8",
                        "filter2d c=3 in=9x9 kernel=3 weights=fixed:8"):
            done = bench(problem, "--quick", "--json", "-")
            self.assertEqual(done.returncode, 0, (problem, done.stderr))
            for each in json.loads(done.stdout)["results"]:
                self.assertEqual(each["status"], "ok", each)

    def test_bad_input(self):
        for arguments, word in (
            (("conv2d c=0 in=3x3 kernel=3",), "c=0"),
            (("conv2d in=3x3 kernel=3", "--schedule", "nothing"), "nothing"),
            (("--layers", "nothing"), "no layer matches nothing"),
            (("--layers", "("), "regular expression"),
            (("--threads", "0"), "--threads"),
            (("--emit", "llvm"), "--emit"),
        ):
            done = bench(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
