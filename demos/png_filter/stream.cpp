#include "stream.h"

#include <map>
#include <vector>

namespace demos {

void filter_png(PngReader &in, Filter &filter, PngWriter &out,
                const std::function<void(std::int64_t rows)> &progress) {
    std::vector<std::int64_t> last_use(static_cast<std::size_t>(in.shape().height));
    for (std::int64_t strip = 0; strip < filter.strips(); ++strip)
        for (std::int64_t y : filter.reads(strip))
            last_use[static_cast<std::size_t>(y)] = strip;

    std::map<std::int64_t, std::vector<Sample>> held;
    const std::size_t row_samples = filter.output().row_samples();
    std::vector<Sample> output(static_cast<std::size_t>(filter.strip_rows()) * row_samples);
    for (std::int64_t strip = 0; strip < filter.strips(); ++strip) {
        for (std::int64_t y : filter.reads(strip)) {
            const auto [row, is_new] = held.try_emplace(y);
            if (!is_new)
                continue;
            if (y < in.next())
                in.rewind();
            while (in.next() < y)
                in.read(nullptr);
            row->second.resize(in.shape().row_samples());
            in.read(row->second.data());
        }
        filter.run(
            strip, [&](std::int64_t y) { return held.at(y).data(); }, output.data());
        for (std::int64_t i = 0; i < filter.rows(strip); ++i)
            out.write(output.data() + static_cast<std::size_t>(i) * row_samples);
        for (auto row = held.begin(); row != held.end();)
            row = last_use[static_cast<std::size_t>(row->first)] == strip ? held.erase(row)
                                                                          : std::next(row);
        progress(strip * filter.strip_rows() + filter.rows(strip));
    }
    in.finish();
    out.finish();
}

} // namespace demos
