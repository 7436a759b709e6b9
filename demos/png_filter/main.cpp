// png_filter: one filter, one picture in, one picture out.

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "filter.h"
#include "kernels.h"
#include "png_file.h"
#include "progress.h"
#include "stream.h"

namespace {

struct Arguments {
    std::string in;
    std::string out;
    std::string kernel;
    bool progress = false;
    demos::Settings settings;
};

/// For what becomes one word of a problem text.
const CLI::Validator one_word(
    [](const std::string &text) {
        return text.empty() || text.find_first_of(" \t\n") != std::string::npos
                   ? "\"" + text + "\" is not one word"
                   : std::string();
    },
    "");

/// Reads the command line into *arguments. Throws CLI::ParseError.
void parse(CLI::App &app, int argc, char **argv, Arguments *arguments) {
    demos::Settings &settings = arguments->settings;
    std::string same, pads;
    app.footer(demos::filter_notes());
    app.add_option("IN.png", arguments->in, "The picture: any PNG")->required();
    app.add_option("OUT.png", arguments->out, "Where the result goes; written whole or not at all")
        ->required();
    CLI::Option *filter = app.add_option("--filter", settings.filter, "Which filter")
                              ->check(CLI::IsMember(demos::filter_names()));
    CLI::Option *kernel =
        app.add_option("--kernel", arguments->kernel, "A kernel of your own instead of a filter")
            ->type_name("FILE")
            ->excludes(filter);
    CLI::Option *size = app.add_option("--size", settings.size,
                                       "K, rows and columns of the window; 3, but 1 for subsample "
                                       "and for downscale the stride, or 2")
                            ->type_name("K")
                            ->excludes(kernel);
    CLI::Option *stride =
        app.add_option("--stride", settings.stride,
                       "S, input pixels from one output pixel to the next; 1, but K for downscale")
            ->type_name("S");
    app.add_option("--phase", settings.phase, "Which of the S x S samplings, each below S; 0,0")
        ->type_name("Y,X")
        ->check(one_word);
    CLI::Option *pads_option = app.add_option("--pads", pads, "Pixels of border on each side")
                                   ->type_name("T,L,B,R")
                                   ->check(one_word);
    CLI::Option *same_option =
        app.add_option("--same", same, "Pads by a convention; tf: the middle tap on the pixel")
            ->type_name("NAME")
            ->check(one_word)
            ->excludes(pads_option);
    std::pair<std::int64_t, std::int64_t> anchor;
    CLI::Option *anchor_option =
        app.add_option("--anchor", anchor,
                       "Pads by the tap that lies on the pixel, from 0,0 at the top left")
            ->type_name("Y,X")
            ->delimiter(',')
            ->excludes(pads_option)
            ->excludes(same_option);
    app.add_option("--border", settings.border,
                   "What lies outside the picture: constant, reflect, symmetric, replicate or "
                   "circular, for both axes or Y,X; constant")
        ->type_name("MODE")
        ->check(one_word);
    CLI::Option *value =
        app.add_option("--value", settings.value, "The value of a constant border; 0")
            ->type_name("V");
    app.add_option("--strip", settings.strip,
                   "Output rows that are computed at a time; as many as 16 MB hold")
        ->type_name("ROWS")
        ->check(CLI::PositiveNumber);
    app.add_flag("--progress", arguments->progress,
                 "Shows progress on stderr even where that is no terminal");
    app.parse(argc, argv);

    if (filter->empty() && kernel->empty())
        throw CLI::RequiredError("--filter or --kernel");
    if (settings.filter == "subsample" && size->empty())
        settings.size = 1;
    if (settings.filter == "downscale") {
        if (size->empty())
            settings.size = stride->empty() ? 2 : settings.stride;
        if (stride->empty())
            settings.stride = settings.size;
    }
    if (!value->empty() && (settings.filter == "dilate" || settings.filter == "erode"))
        throw CLI::ValidationError("--value", settings.filter + " does not look at the border");
    if (!value->empty() && settings.border.find("constant") == std::string::npos)
        throw CLI::ValidationError("--value", "no side has a constant border");
    if (!anchor_option->empty())
        settings.anchor = anchor;
    if (!pads.empty())
        settings.pads = "pads=" + pads;
    else if (!same.empty())
        settings.pads = "same=" + same;
}

void run(Arguments arguments) {
    if (!arguments.kernel.empty())
        arguments.settings.kernel = demos::read_kernel(arguments.kernel);
    demos::PngReader in(arguments.in);
    demos::Filter filter(arguments.settings, in.shape());
    demos::PngWriter out(arguments.out, filter.output());
    if (in.interlaced())
        std::fprintf(stderr, "png_filter: %s is interlaced and held in memory as a whole\n",
                     arguments.in.c_str());
    demos::Progress progress(filter.output().height,
                             arguments.progress || isatty(STDERR_FILENO) != 0);
    demos::filter_png(in, filter, out, [&](std::int64_t rows) { progress(rows); });
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Filters a PNG picture with exact borders.", "png_filter");
    try {
        Arguments arguments;
        parse(app, argc, argv, &arguments);
        run(arguments);
        return 0;
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "png_filter: %s\n", error.what());
        return 2;
    } catch (const demos::BadInput &error) {
        std::fprintf(stderr, "png_filter: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "png_filter: %s\n", error.what());
        return 1;
    }
}
