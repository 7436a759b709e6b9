#include "check_views.h"

#include <string>

#include "selvage/core/views.h"

namespace selvage {

namespace {

std::string shape(std::int64_t n, const Region &r, std::int64_t c) {
    const auto str = [](std::int64_t value) { return std::to_string(value); };
    const std::string plane = str(r.y.size) + "x" + str(r.x.size) + "x" + str(c);
    return str(n) + "x" + (r.z.size == 1 ? "" : str(r.z.size) + "x") + plane;
}

/// A view must have the problem's shape and be addressable.
Status check_view(const View &view, Layout layout, std::int64_t n, const Region &region,
                  std::int64_t c) {
    if (view.n != n || view.d != region.z.size || view.h != region.y.size ||
        view.w != region.x.size || view.c != c)
        return {Code::invalid_argument,
                std::string("run: ") + view.what + " is " +
                    shape(view.n, {{0, view.d}, {0, view.h}, {0, view.w}}, view.c) +
                    ", the problem needs " + shape(n, region, c) +
                    " (images, planes if there are several, rows, columns, channels)"};
    if (view.empty())
        return {};
    char text[longest_line];
    Line line(text, sizeof text);
    const Code code = check_view(view, layout, line.add("run: "));
    return code == Code::ok ? Status() : Status(code, text);
}

} // namespace

Status check_views(const Work &work, const View &input, const View &output, const View *indices) {
    const Problem &p = work.problem;
    if (work.parts.empty())
        return {Code::invalid_argument, "run: the plan is empty; make_plan() fills it"};
    const NumberType type = p.type == Type::f32  ? number_type(float())
                            : p.type == Type::u8 ? number_type(std::uint8_t())
                                                 : number_type(std::int8_t());
    if (input.type.code != type.code || input.type.bits != type.bits)
        return {Code::invalid_argument, "run: the views' type of number differs from " + text(p)};
    if (Status s = check_view(input, p.layout, p.n, work.input, p.c); !s.ok())
        return s;
    if (Status s = check_view(output, p.layout, p.n, work.output, p.k); !s.ok())
        return s;
    if ((indices != nullptr) != (p.indices != Indices::none))
        return {Code::invalid_argument, indices == nullptr
                                            ? "run: indices is null, but the problem has indices"
                                            : "run: indices is given, but the problem has none"};
    if (indices != nullptr)
        if (Status s = check_view(*indices, p.layout, p.n, work.output, p.k); !s.ok())
            return s;
    return {};
}

} // namespace selvage
