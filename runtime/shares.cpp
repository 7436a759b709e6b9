#include "shares.h"

#include <algorithm>

namespace selvage {

namespace {

/// Cuts a number of units into equal ranges; the first ones take what is left over.
std::vector<Range> even_ranges(std::int64_t units, int threads) {
    const std::int64_t count = std::min<std::int64_t>(threads, units);
    std::vector<Range> ranges;
    for (std::int64_t i = 0, begin = 0; i < count; ++i) {
        ranges.push_back({begin, units / count + (i < units % count ? 1 : 0)});
        begin += ranges.back().size;
    }
    return ranges;
}

/// Lines of all images follow each other. An axis that is null has one line an image.
std::vector<std::vector<Piece>> by_lines(const Piece &whole, Range Region::*axis, std::int64_t unit,
                                         int threads) {
    // Of so many images no share gets a part of one, and all products stay within 64 bits.
    constexpr std::int64_t many = 1 << 20;
    const std::int64_t images = whole.images.size;
    const Range all = axis == nullptr || images >= many ? Range{0, 1} : whole.output.*axis;
    const std::int64_t units = (all.size + unit - 1) / unit; // of an image
    std::vector<std::vector<Piece>> result;
    for (const Range &lines : even_ranges(images * units, threads)) {
        result.emplace_back();
        for (std::int64_t next = lines.begin, end = next + lines.size; next < end;) {
            const std::int64_t first = next % units, rest = end - next;
            Piece piece = whole;
            piece.images = {whole.images.begin + next / units, 1};
            if (first == 0 && rest >= units) {
                piece.images.size = rest / units;
                next += piece.images.size * units;
            } else {
                const std::int64_t count = std::min(units - first, rest), line = first * unit;
                piece.output.*axis = {all.begin + line, std::min(count * unit, all.size - line)};
                next += count;
            }
            result.back().push_back(piece);
        }
    }
    return result;
}

std::vector<std::vector<Piece>> by_channels(const Piece &whole, std::int64_t unit, int threads) {
    const Range all = whole.channels;
    const std::int64_t units = (all.size + unit - 1) / unit;
    std::vector<std::vector<Piece>> result;
    for (const Range &range : even_ranges(units, threads)) {
        Piece piece = whole;
        piece.channels.begin = all.begin + range.begin * unit;
        piece.channels.size = std::min(range.size * unit, all.size - range.begin * unit);
        result.push_back({piece});
    }
    return result;
}

} // namespace

std::vector<std::vector<Piece>> shares(const Piece &whole, Split split, std::int64_t unit,
                                       int threads) {
    switch (split) {
    case Split::planes: return by_lines(whole, &Region::z, unit, threads);
    case Split::rows: return by_lines(whole, &Region::y, unit, threads);
    case Split::columns: return by_lines(whole, &Region::x, unit, threads);
    case Split::channels: return by_channels(whole, unit, threads);
    case Split::automatic:
    case Split::images: break;
    }
    return by_lines(whole, nullptr, 1, threads);
}

} // namespace selvage
