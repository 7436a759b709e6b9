// png_filter: one filter, one picture in, one picture out.

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "png_filter/filter.h"
#include "png_filter/picture.h"

namespace {

struct Arguments {
    std::string in;
    std::string out;
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
    app.add_option("--filter", settings.filter, "Which filter")
        ->required()
        ->check(CLI::IsMember(demos::filter_names()));
    CLI::Option *size = app.add_option("--size", settings.size,
                                       "K, rows and columns of the window; 3, but 1 for subsample "
                                       "and for downscale the stride, or 2")
                            ->type_name("K");
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
    app.add_option("--same", same, "Border by a convention; tf")
        ->type_name("NAME")
        ->check(one_word)
        ->excludes(pads_option);
    CLI::Option *value =
        app.add_option("--value", settings.value, "What lies outside the picture; 0")
            ->type_name("V");
    app.parse(argc, argv);

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
    if (!pads.empty())
        settings.border = "pads=" + pads;
    else if (!same.empty())
        settings.border = "same=" + same;
}

void run(const Arguments &arguments) {
    const demos::Picture picture = demos::read_png(arguments.in);
    demos::Filter filter(arguments.settings, picture);
    demos::write_png(arguments.out, filter(picture).picture);
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
