#!/usr/bin/env python3
"""Makes a page and charts of what schedule_bench measured.

The page is one file that needs nothing else. Beside it go results.json, which is the measurements
with code size and compile time of our kernels added, and the charts as PNG.
"""

import argparse
import html
import json
import math
import re
import string
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

import archives  # noqa: E402  (bench/archives.py)
import charts  # noqa: E402


def add_costs(results, build):
    """Adds code_bytes and compile_seconds of the kernels that this build has compiled."""
    files = {archive.stem: archive for archive in archives.archives_of(build) if archive.exists()}
    seconds = archives.compile_seconds(build / ".ninja_log")
    size = archives.code_bytes(files.values()) if files else {}
    for each in results:
        name = "selvage_" + each["kernel"].replace("/", "_")
        if name in files:
            each["code_bytes"] = size[name + ".a"]
            each["compile_seconds"] = seconds.get(name + ".a")


def series(each):
    """The name under which a result is counted and drawn."""
    return each["schedule"] + (" (NCHW)" if each["layout"] == "nchw" else "")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def counted(results):
    """Of each family the best kernel, and everything else; and all that failed."""
    return [each for each in results if is_counted(each)]


def is_counted(each):
    return each.get("best_of_family", True) or each["status"] == "error"


def number(value, form):
    if value is None:
        return '<td class="n"></td>'
    return f'<td class="n" data-v="{value:.9g}">{value:{form}}</td>'


def text(value, style=""):
    return f'<td class="{style}">{html.escape(str(value))}</td>'


def summary(results, threads):
    """Each schedule over the tuned choice, in geometric mean over the layers that it computes."""
    rows = []
    names = dict.fromkeys(series(each) for each in counted(results))
    for name in names:
        cells = [text(name)]
        for count in threads:
            of_name = [each for each in counted(results)
                       if series(each) == name and each["threads"] == count]
            timed = [each for each in of_name if "ratio" in each]
            faster = sum(each["ratio"] < 1 for each in timed)
            failed = sum(each["status"] == "error" for each in of_name)
            cells += [number(geometric_mean([each["ratio"] for each in timed]) if timed else None,
                             ".3f"),
                      number(len(timed), "d"), number(faster, "d"), number(failed, "d")]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = "".join(f'<th class="n">{count} thread{"s" * (count > 1)}: mean ratio</th>'
                    '<th class="n">layers</th><th class="n">faster</th><th class="n">failed</th>'
                    for count in threads)
    return f"<table><thead><tr><th>schedule</th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


COLUMNS = [("layer", ""), ("threads", "n"), ("schedule", ""), ("kernel", ""), ("ms", "n"),
           ("ratio", "n"), ("quartiles", "n"), ("GFLOP/s", "n"), ("fraction", "n"), ("bound", ""),
           ("code bytes", "n"), ("scratch bytes", "n"), ("compile s", "n")]


def breakable(value):
    """Long names may be broken where their words end."""
    return re.sub(r"([_/,])(?=\w)", r"\1<wbr>", html.escape(value))


def result_row(each):
    kind = [] if is_counted(each) else ["other"]
    kind += ["choice"] * (each["schedule"] == "tuned") + ["error"] * (each["status"] == "error")
    told = each["text"] if each["status"] == "ok" else f'{each["status"]}: {each["reason"]}'
    cells = [f'<td class="long">{breakable(each["layer"])}</td>', number(each["threads"], "d"),
             text(each["series"]), f'<td class="long told">{breakable(told)}</td>']
    if "ratio" in each:
        cells += [number(each["milliseconds"], ".4f"), number(each["ratio"], ".3f"),
                  text(f'{each["lower_quartile"]:.2f}–{each["upper_quartile"]:.2f}', "n"),
                  number(each["gflops"], ".1f"), number(each["fraction"], ".2f"),
                  text(each["bound"])]
    else:
        cells += ['<td class="n"></td>'] * 6
    cells += [number(each.get("code_bytes"), "d"), number(each.get("scratch_bytes"), "d"),
              number(each.get("compile_seconds"), ".1f")]
    return f'<tr class="{" ".join(kind)}">{"".join(cells)}</tr>'


def result_table(results):
    heads = "".join(f'<th class="{style}">{name}</th>' for name, style in COLUMNS)
    rows = "\n".join(map(result_row, results))
    return f'<table id="results"><thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table>'


def figure(svg, caption):
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def ceiling_table(ceilings):
    levels = [each["level"] for each in ceilings[0]["bandwidths"]]
    heads = "".join(f'<th class="n">{level}, GB/s</th>' for level in levels)
    rows = "".join(
        f'<tr>{number(each["threads"], "d")}{number(each["gflops"], ".1f")}'
        + "".join(number(bandwidth["gbs"], ".1f") for bandwidth in each["bandwidths"]) + "</tr>"
        for each in ceilings)
    return ('<table><thead><tr><th class="n">threads</th><th class="n">FMA, GFLOP/s</th>'
            f"{heads}</tr></thead><tbody>{rows}</tbody></table>")


def page(all_results, sweep, output):
    layers, results, ceilings = (all_results[key] for key in ("layers", "results", "ceilings"))
    threads = [each["threads"] for each in ceilings]
    for each in results:
        each["series"] = series(each)
    styles = charts.style_of(dict.fromkeys(each["series"] for each in results))
    parts = [
        "<h1>Schedules compared</h1>",
        f'<p class="facts">{html.escape(all_results["machine"])} · {html.escape(all_results["isa"])} '
        f'· {html.escape(all_results["date"])} · {len(layers)} layers · {all_results["turns"]} '
        f'turns</p>',
        "<p>Every result was checked before it was timed. All schedules of a layer took turns in one "
        "process; a <em>ratio</em> is the median of the turns' ratios to the tuned choice, below 1 "
        "is faster. A schedule that took more than three times as long "
        "got a few turns only. <em>Fraction</em>: time that the limit which binds (FMA peak, or the "
        "bandwidth of the smallest cache that holds the layer's data, both measured in the same "
        "turns) would need, over the time taken. Operations are nominal: Winograd needs fewer and "
        "may exceed 1.</p>",
        "<h2>Over all layers</h2>", summary(results, threads),
        '<p class="soft">Of each family the fastest kernel of a layer counts. Autoschedulers had the '
        "plain algorithm with all sizes fixed, one kernel for all numbers of threads, and Halide's "
        "own thread pool.</p>",
        "<h2>What the machine can do</h2>", ceiling_table(ceilings)]
    for count in threads:
        of_count = [each for each in counted(results) if each["threads"] == count]
        drawn = [each for each in of_count if each["schedule"] not in ("cost model", "asked for")]
        suffix = f"{count} thread{'s' * (count > 1)}"
        parts += [
            f"<h2>Roofline, {suffix}</h2>",
            figure(charts.roofline(layers, drawn,
                                   next(each for each in ceilings if each["threads"] == count),
                                   styles, output / f"roofline_{count}.png"),
                   "Each mark is a layer by one schedule; hover over it for its name."),
            f"<h2>Fraction of the limit, tuned choice, {suffix}</h2>",
            figure(charts.fractions(layers, [each for each in of_count
                                             if each["schedule"] == "tuned"],
                                    output / f"fraction_{count}.png"), ""),
            f"<h2>Schedules by layer, {suffix}</h2>",
            figure(charts.ratios(layers, of_count, styles, output / f"ratio_{count}.png"), "")]
    parts.append("<h2>Cost by size</h2>")
    if sweep:
        cliffs = sum(size["cliff"] for each in sweep["sweeps"] for size in each["sizes"])
        parts.append(figure(charts.sweep(sweep["sweeps"], output / "sweep.png"),
                            f"Level lines: cost grows linearly. Crosses: {cliffs} sizes above "
                            "their bar."))
    else:
        parts.append("<p>Not measured: <code>./dev run sweep --json out/sweep.json</code> does, and "
                     "the next report shows it.</p>")
    parts += [
        "<h2>All results</h2>",
        '<div class="controls"><input type="search" id="search" placeholder="filter: words, all '
        'must occur"><label><input type="checkbox" id="every"> every kernel, not only the best of '
        'its family</label><span id="count" class="soft"></span></div>',
        result_table(results)]
    template = string.Template((FOLDER / "page.html").read_text())
    return template.safe_substitute(body="\n".join(parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=Path, help="the JSON of schedule_bench")
    parser.add_argument("--build", type=Path, required=True, help="the folder of the build")
    parser.add_argument("--sweep", type=Path, help="the JSON of the program sweep, if there is one")
    parser.add_argument("-o", dest="output", type=Path, required=True, help="folder of the report")
    options = parser.parse_args()
    try:
        results = json.loads(options.measured.read_text())
        sweep = None
        if options.sweep and options.sweep.exists():
            sweep = json.loads(options.sweep.read_text())
    except (OSError, json.JSONDecodeError) as error:
        parser.error(f"no results: {error}")
    options.output.mkdir(parents=True, exist_ok=True)
    add_costs(results["results"], options.build)
    (options.output / "index.html").write_text(page(results, sweep, options.output))
    (options.output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(options.output / "index.html")


if __name__ == "__main__":
    sys.exit(main())
