"""The charts of the report, each drawn once: as SVG for the page and as PNG.

In an SVG the colours are variables of the page's style sheet, so one drawing serves light and dark
screens and paper; elements that were given a label show it as a tooltip.
"""

import html
import io
import math
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend without windows)
from matplotlib import ticker  # noqa: E402

# Stand-ins in the drawing, and the variables of the page's style sheet that take their place.
INK, GRID, PAPER = "#101112", "#c9cbcd", "#fefdfc"
COLOURS = ["#1f6fb4", "#d9662b", "#2b8a4e", "#a8408f", "#8a6d1d", "#16909a", "#c23b4a", "#6553c0"]
VARIABLES = {INK: "--ink", GRID: "--grid", PAPER: "--paper",
             **{colour: f"--series{i}" for i, colour in enumerate(COLOURS)}}
MARKS = ["o", "s", "^", "D", "v", "P", "X", "*"]

plt.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "selvage",
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": GRID, "grid.linewidth": 0.6, "axes.grid": True,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "figure.facecolor": PAPER, "axes.facecolor": PAPER, "savefig.facecolor": PAPER,
    "legend.frameon": False, "legend.fontsize": 8})


def finish(figure, png):
    """Writes the PNG and returns the SVG as text for a page."""
    figure.savefig(png, dpi=150, bbox_inches="tight")
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg"):]
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    svg = re.sub(r'<g id="tip:([^"]*)">', lambda match: f"<g><title>{match[1]}</title>", svg)
    # Ids are the page's, which has several drawings; and sizes are those of the page's columns.
    prefix = re.sub(r"\W", "_", png.stem)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}_", svg)
    return re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', svg,
                  count=1)


def tip(artist, text):
    artist.set_gid("tip:" + html.escape(text))


def style_of(names):
    """A colour and a mark for each name, the same in all charts; colours come again, with others."""
    return {name: (COLOURS[i % len(COLOURS)], MARKS[(i + i // len(COLOURS)) % len(MARKS)])
            for i, name in enumerate(names)}


def plain_ticks(axis):
    """Numbers of a logarithmic axis as one writes them: 0.5, 2, 50."""
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(ticker.NullLocator())


# What reaches less than a thousandth of the peak would press everything else together.
slowest_drawn = 1000


def roofline(layers, results, ceilings, styles, png):
    """Speed over operations per byte, under what arithmetic and each level of memory allow."""
    figure, axes = plt.subplots(figsize=(9.6, 5.2))
    intensity = {layer["name"]: layer["operations"] / layer["bytes"] for layer in layers}
    points = [each for each in results if "gflops" in each]
    low = min(intensity.values()) / 1.6
    high = max(intensity.values()) * 2.5
    peak = ceilings["gflops"]
    for bandwidth in ceilings["bandwidths"]:
        ridge = peak / bandwidth["gbs"]
        if ridge > low:
            axes.plot([low, min(ridge, high)],
                      [bandwidth["gbs"] * low, bandwidth["gbs"] * min(ridge, high)],
                      color=INK, linewidth=0.9, alpha=0.7)
            axes.text(low * 1.04, bandwidth["gbs"] * low * 1.04, va="center", fontsize=7.5,
                      s=f"{bandwidth['level']} {bandwidth['gbs']:.0f} GB/s",
                      bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1})
    fastest = max(each["gbs"] for each in ceilings["bandwidths"])
    axes.plot([max(low, peak / fastest), high], [peak, peak], color=INK, linewidth=1.4)
    # Over the ridges, where no layer lies.
    axes.text(max(low, peak / fastest), peak * 1.08, f"FMA {peak:.0f} GFLOP/s", fontsize=8)
    named = set()
    for each in points:
        colour, mark = styles[each["series"]]
        line, = axes.plot([intensity[each["layer"]]], [each["gflops"]], mark, color=colour,
                          markersize=5.5, markeredgecolor=PAPER, markeredgewidth=0.4, alpha=0.9,
                          label=each["series"] if each["series"] not in named else None)
        named.add(each["series"])
        tip(line, f"{each['layer']}: {each['series']}, {each['kernel']}, "
                  f"{each['gflops']:.1f} GFLOP/s, {each['fraction']:.0%} of the limit")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    # Operations are nominal, so some may lie above the peak.
    axes.set_ylim(max(min(each["gflops"] for each in points) / 2, peak / slowest_drawn),
                  max(peak * 2, max(each["gflops"] for each in points) * 1.3))
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.set_xlabel("operations per byte moved at least (nominal)")
    axes.set_ylabel("GFLOP/s")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return finish(figure, png)


def short(layer, length=40):
    return layer if len(layer) <= length else layer[:length - 1] + "…"


def fractions(layers, choices, png):
    """Bars: how much of the limit that binds the library's choice reaches."""
    figure, axes = plt.subplots(figsize=(9.6, 0.9 + 0.2 * len(layers)))
    by_layer = {each["layer"]: each for each in choices if "fraction" in each}
    bounds = sorted({each["bound"] for each in by_layer.values()})
    styles = style_of(bounds)
    named = set()
    for place, layer in enumerate(layers):
        each = by_layer.get(layer["name"])
        if each is None:
            continue
        bar = axes.barh(place, each["fraction"], color=styles[each["bound"]][0], height=0.72,
                        label=each["bound"] if each["bound"] not in named else None)[0]
        named.add(each["bound"])
        tip(bar, f"{layer['name']}: {each['fraction']:.0%} of {each['bound']}, {each['kernel']}")
        axes.text(each["fraction"] + 0.01, place, f"{each['fraction']:.2f}", va="center",
                  fontsize=7)
    axes.axvline(1, color=INK, linewidth=0.9)
    axes.set_yticks(range(len(layers)), [short(layer["name"]) for layer in layers], fontsize=7.5)
    axes.set_ylim(len(layers) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("fraction of the limit that binds")
    axes.legend(title="limited by", loc="upper left", bbox_to_anchor=(1, 1), title_fontsize=8)
    return finish(figure, png)


def ratios(layers, results, styles, png):
    """Time of each schedule over that of the library's choice, by layer."""
    figure, axes = plt.subplots(figsize=(9.6, 0.9 + 0.2 * len(layers)))
    place = {layer["name"]: i for i, layer in enumerate(layers)}
    named = set()
    for each in results:
        if "ratio" not in each or each["schedule"] == "tuned":
            continue
        colour, mark = styles[each["series"]]
        line, = axes.plot([each["ratio"]], [place[each["layer"]]], mark, color=colour, markersize=5,
                          markeredgecolor=PAPER, markeredgewidth=0.4, alpha=0.9,
                          label=each["series"] if each["series"] not in named else None)
        named.add(each["series"])
        tip(line, f"{each['layer']}: {each['series']}, {each['kernel']}, {each['ratio']:.2f} "
                  f"times the tuned choice")
    axes.axvline(1, color=INK, linewidth=0.9)
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    ticks = [2.0 ** e for e in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlim(low, high)
    axes.set_yticks(range(len(layers)), [short(layer["name"]) for layer in layers], fontsize=7.5)
    axes.set_ylim(len(layers) - 0.4, -0.6)
    axes.set_xlabel("time / time of the tuned choice (left of 1: faster)")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return finish(figure, png)


def sweep(sweeps, png):
    """Time for each unit of work over the least of its series, a panel for what grows."""
    panels = list(dict.fromkeys(each["grows"] for each in sweeps))
    figure, grid = plt.subplots(-(-len(panels) // 2), 2, squeeze=False,
                                figsize=(9.6, 3.1 * -(-len(panels) // 2)))
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, grows in zip(grid.flat, panels):
        names = list(dict.fromkeys(each["name"] for each in sweeps if each["grows"] == grows))
        for name, (colour, mark) in style_of(names).items():
            points = sorted((size["size"], size["milliseconds"] / size["work"], size["cliff"])
                            for each in sweeps if (each["name"], each["grows"]) == (name, grows)
                            for size in each["sizes"])
            least = min(point[1] for point in points)
            axes.plot([point[0] for point in points], [point[1] / least for point in points],
                      color=colour, linewidth=1, marker=".", markersize=4, label=name)
            cliffs = [point for point in points if point[2]]
            axes.plot([point[0] for point in cliffs], [point[1] / least for point in cliffs], "x",
                      color=colour, markersize=8)
        axes.set_xscale("log", base=2)
        ticks = [tick for tick in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
                 if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]
        axes.set_xticks(ticks, map(str, ticks))
        axes.set_title(f"growing {grows}", fontsize=9, loc="left")
        axes.set_ylabel("time per unit of work / least", fontsize=8)
        axes.legend(fontsize=6.5)
    figure.tight_layout()
    return finish(figure, png)
