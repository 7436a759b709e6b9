#include "shares.h"

#include <algorithm>

namespace selvage {

std::vector<std::vector<Piece>> shares(std::int64_t images, const Region &output,
                                       Range Region::*axis, int threads) {
    // Of so many images no share gets a part of one, and all products stay within 64 bits.
    constexpr std::int64_t many = 1 << 20;
    const Range all = output.*axis;
    const std::int64_t of_image = images < many ? all.size : 1;
    // The lines of all images follow each other; the first shares take what is left over.
    const std::int64_t lines = images * of_image;
    const std::int64_t count = std::min<std::int64_t>(threads, lines);
    std::vector<std::vector<Piece>> result;
    for (std::int64_t i = 0, next = 0; i < count; ++i) {
        const std::int64_t end = next + lines / count + (i < lines % count ? 1 : 0);
        result.emplace_back();
        while (next < end) {
            const std::int64_t line = next % of_image, rest = end - next;
            Piece piece = {{next / of_image, 1}, output};
            if (line == 0 && rest >= of_image) {
                piece.images.size = rest / of_image;
                next += piece.images.size * of_image;
            } else {
                const std::int64_t size = std::min(of_image - line, rest);
                piece.output.*axis = {all.begin + line, size};
                next += size;
            }
            result.back().push_back(piece);
        }
    }
    return result;
}

} // namespace selvage
