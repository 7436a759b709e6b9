// demo: every filter on one picture, what border conventions and phases do to it, and what it
// takes.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "png_filter/filter.h"
#include "png_filter/png_file.h"
#include "showcase/sheet.h"

namespace fs = std::filesystem;
using demos::Filter;
using demos::Panel;
using demos::Picture;
using demos::Settings;
using demos::Strip;

namespace {

/// Pictures on the sheets are about this high and wide.
constexpr std::int64_t panel_size = 256;

Settings settings(const std::string &filter, std::int64_t size, std::int64_t stride = 1) {
    Settings s;
    s.filter = filter;
    s.size = size;
    s.stride = stride;
    return s;
}

std::vector<Settings> all_filters() {
    return {settings("gaussian", 9), settings("box", 9),          settings("sharpen", 5),
            settings("sobel", 3),    settings("emboss", 3),       settings("dilate", 5),
            settings("erode", 5),    settings("downscale", 2, 2), settings("subsample", 1, 2)};
}

std::string describe(const Settings &s) {
    const std::string size = std::to_string(s.size);
    return s.filter + " " + size + "x" + size +
           (s.stride == 1 ? "" : ", stride " + std::to_string(s.stride));
}

Picture apply(const Settings &s, const Picture &picture) {
    Filter filter(s, picture);
    return demos::filtered(filter, picture).picture;
}

/// Rings that get finer outwards, down to two pixels at the middle of the edges, where they fade
/// into the dark: what a filter does to a frequency shows at its radius, and false rings are
/// aliases.
Picture zone_plate() {
    const double pi = std::acos(-1.0), radius = panel_size / 2.0;
    const double dark[] = {18, 30, 74}, light[] = {255, 240, 208};
    Picture picture{{panel_size, panel_size, 3, 8}, {}};
    for (std::int64_t y = 0; y < panel_size; ++y)
        for (std::int64_t x = 0; x < panel_size; ++x) {
            const double r = std::hypot(static_cast<double>(y) + 0.5 - radius,
                                        static_cast<double>(x) + 0.5 - radius);
            // Its slope, pi * r / radius, is half a ring a pixel at the radius.
            const double ring = 0.5 + 0.5 * std::cos(pi * r * r / (2 * radius));
            const double fade = std::clamp((radius - r) / (0.1 * radius), 0.0, 1.0);
            for (int channel = 0; channel < 3; ++channel)
                picture.samples.push_back(static_cast<demos::Sample>(
                    std::lround(dark[channel] + (light[channel] - dark[channel]) * ring * fade)));
        }
    return picture;
}

/// The picture, averaged down to the size of a panel, and cropped to whole blocks of 4 x 4 pixels,
/// so that all conventions and phases below give results of one size.
Picture reduced(const Picture &picture) {
    const std::int64_t longest = std::max(picture.height, picture.width);
    const std::int64_t factor = (longest + panel_size - 1) / panel_size;
    Settings average = settings("downscale", factor, factor);
    average.pads = "same=valid";
    const Picture small = demos::viewable(apply(average, picture));
    if (small.height < 4 || small.width < 4)
        throw demos::BadInput("the picture is too small or too narrow for a contact sheet: " +
                              std::to_string(picture.width) + " x " +
                              std::to_string(picture.height) + " pixels");
    Settings crop = settings("subsample", 1);
    crop.pads = "pads=0,0," + std::to_string(-(small.height % 4)) + "," +
                std::to_string(-(small.width % 4));
    return apply(crop, small);
}

/// How often the pixels of a reduced picture are repeated to fill a panel.
std::int64_t zoom(const Picture &small) {
    return std::max<std::int64_t>(1, panel_size / std::max(small.height, small.width));
}

/// The median time of the kernel: of 21 runs, or of as many as half a second holds, at least 3.
double median_milliseconds(Filter &filter, const Picture &picture) {
    const auto start = std::chrono::steady_clock::now();
    const auto enough = std::chrono::milliseconds(500);
    std::vector<double> times;
    while (times.size() < 3 ||
           (times.size() < 21 && std::chrono::steady_clock::now() - start < enough))
        times.push_back(demos::filtered(filter, picture).milliseconds);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/// Writes one picture for each filter; prints what the kernels took, and writes that to
/// timings.txt.
void write_filters(const Picture &picture, const fs::path &folder) {
    std::ofstream file(folder / "timings.txt");
    const auto line = [&](const std::string &filter, const std::string &size,
                          const std::string &kernel, const std::string &ms,
                          const std::string &speed) {
        char text[256];
        std::snprintf(text, sizeof text, "%-24s %-14s %-40s %10s %10s\n", filter.c_str(),
                      size.c_str(), kernel.c_str(), ms.c_str(), speed.c_str());
        std::fputs(text, stdout);
        std::fflush(stdout);
        file << text;
    };
    const auto decimal = [](double value, int digits) {
        char text[64];
        std::snprintf(text, sizeof text, "%.*f", digits, value);
        return std::string(text);
    };
    const std::string size = std::to_string(picture.width) + "x" + std::to_string(picture.height) +
                             "x" + std::to_string(picture.channels);
    const double megapixels = static_cast<double>(picture.height * picture.width) / 1e6;

    line("filter", "picture", "kernel", "ms", "Mpixel/s");
    for (const Settings &s : all_filters()) {
        Filter filter(s, picture);
        demos::write_png(folder / (s.filter + ".png"), demos::filtered(filter, picture).picture);
        const double ms = median_milliseconds(filter, picture);
        line(describe(s), size, filter.kernel(), decimal(ms, 3), decimal(megapixels / ms * 1e3, 1));
    }
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + (folder / "timings.txt").string());
}

/// The picture and all filters, in two lines.
std::vector<Strip> filter_strips(const Picture &small) {
    std::vector<Panel> panels = {{"the picture", demos::enlarged(small, zoom(small))}};
    for (const Settings &s : all_filters())
        panels.push_back({describe(s), demos::enlarged(apply(s, small), zoom(small) * s.stride)});
    std::vector<Strip> strips(2);
    for (std::size_t i = 0; i < panels.size(); ++i)
        strips[i / 5].panels.push_back(panels[i]);
    return strips;
}

/// What lies outside a picture, under every border: a part of the picture, half as much of border
/// as of picture. The part lies off the middle, so that a symmetric picture shows which way each
/// border turns.
Strip mode_strip(const Picture &small) {
    const std::int64_t height = small.height / 2, width = small.width / 2;
    const Picture part = demos::cut(small, small.height / 8, small.width / 8, height, width);
    Settings s = settings("subsample", 1);
    const std::string sides = std::to_string(height / 2) + "," + std::to_string(width / 2);
    s.pads = "pads=" + sides + "," + sides;
    Strip strip;
    strip.heading = "a quarter of the picture under each of the five borders";
    for (const selvage::NamedMode &mode : selvage::modes) {
        s.border = mode.name;
        strip.panels.push_back({s.border, demos::enlarged(apply(s, part), zoom(small))});
    }
    return strip;
}

/// One filter under four borders: the whole, two corners enlarged, and the differences to the
/// first. Kernel and stride are such that all four differ and give results of one size. The pads
/// are those of the reduced picture, so its size is told.
std::vector<Strip> border_strips(const Picture &small) {
    Settings s = settings("box", 8, 4);
    s.value = static_cast<float>(small.peak());
    Strip whole, corners, differences;
    whole.heading = describe(s) + ", white outside, under four borders: the picture at " +
                    std::to_string(small.width) + "x" + std::to_string(small.height);
    corners.heading = "top left and bottom right corner, and the pads read: top,left,bottom,right";
    differences.heading = "their differences to tf, doubled: grey where they agree";
    Picture first;
    for (const char *border : {"same=tf", "same=torch", "same=scipy", "pads=0,4,4,0"}) {
        s.pads = border;
        Filter filter(s, small);
        const Picture result = demos::filtered(filter, small).picture;
        if (first.samples.empty())
            first = result;
        const selvage::Window &y = filter.window_y(), &x = filter.window_x();
        whole.panels.push_back({border, demos::enlarged(result, zoom(small) * s.stride)});
        const std::string read = std::to_string(y.before) + "," + std::to_string(x.before) + "," +
                                 std::to_string(y.after()) + "," + std::to_string(x.after());
        const std::int64_t side = std::min<std::int64_t>({6, result.height, result.width});
        const auto corner = [&](std::int64_t top, std::int64_t left) {
            return demos::enlarged(demos::cut(result, top, left, side, side), 20);
        };
        corners.panels.push_back(
            {read, demos::beside(corner(0, 0), corner(result.height - side, result.width - side))});
        differences.panels.push_back(
            {border, demos::enlarged(demos::difference(result, first), zoom(small) * s.stride)});
    }
    return {whole, corners, differences};
}

/// The four phases of stride 2 and their differences to the first. The border is one that gives all
/// phases one size.
std::vector<Strip> phase_strips(const Picture &small, Settings s, const std::string &remark) {
    s.pads = "same=torch";
    Strip results, differences;
    results.heading = describe(s) + " at its four phases: " + remark;
    differences.heading = "their differences to phase 0,0, doubled: grey where they agree";
    Picture first;
    for (const char *phase : {"0,0", "0,1", "1,0", "1,1"}) {
        s.phase = phase;
        const Picture result = apply(s, small);
        if (first.samples.empty())
            first = result;
        results.panels.push_back(
            {"phase " + s.phase, demos::enlarged(result, zoom(small) * s.stride)});
        differences.panels.push_back(
            {"phase " + s.phase,
             demos::enlarged(demos::difference(result, first), zoom(small) * s.stride)});
    }
    return {results, differences};
}

void run(const std::string &path, const fs::path &folder) {
    const Picture picture = path.empty() ? zone_plate() : demos::read_png(path);
    const Picture small = reduced(picture);
    fs::create_directories(folder);
    if (path.empty()) {
        demos::write_png(folder / "zone_plate.png", picture);
        std::printf("No picture given: made a zone plate, %s\n",
                    (folder / "zone_plate.png").c_str());
    }
    write_filters(picture, folder);

    std::printf("Drawing the sheets\n");
    std::vector<Strip> strips = filter_strips(small);
    strips.push_back(mode_strip(small));
    demos::write_png(folder / "filters.png", demos::sheet(strips));
    strips = border_strips(small);
    for (const auto &[s, remark] :
         {std::pair(settings("subsample", 1, 2), "fine detail becomes false detail"),
          std::pair(settings("gaussian", 5, 2), "blurred first, the phases nearly agree")})
        for (Strip &strip : phase_strips(small, s, remark))
            strips.push_back(std::move(strip));
    demos::write_png(folder / "contact_sheet.png", demos::sheet(strips));

    std::printf("Look at %s (conventions and phases)\n"
                "    and %s (filters, each a file of its own there too, and borders).\n"
                "The table above is in %s.\n",
                (folder / "contact_sheet.png").c_str(), (folder / "filters.png").c_str(),
                (folder / "timings.txt").c_str());
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Shows what the library does to a PNG picture.", "demo");
    std::string picture, folder = "out";
    app.add_option("PICTURE.png", picture, "Any PNG; without it a test picture is made");
    app.add_option("--out", folder, "The folder that results go to; out")->type_name("DIR");
    try {
        app.parse(argc, argv);
        run(picture, folder);
        return 0;
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 2;
    } catch (const demos::BadInput &error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 1;
    }
}
