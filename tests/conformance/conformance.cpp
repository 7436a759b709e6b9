// Runs cases (folders as cases.py describes them) through the public API, in both layouts.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <selvage/layer.h>

#include "commands.h"
#include "npy.h"
#include "trial.h"

namespace fs = std::filesystem;
using selvage::Layout;
using selvage::Op;
using selvage::Problem;
using selvage::Region;
using selvage::Status;
using selvage::Type;

namespace {

/// A case does not hold; the text says why.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void require(const Status &status) {
    if (!status.ok())
        throw Failure(status.text());
}

struct Case {
    fs::path folder;
    std::map<std::string, std::string> fields; ///< of case.txt
    Problem problem;
    Data data;

    bool has_fault() const { return fields.count("fault") > 0; }
};

// --- Reading -------------------------------------------------------------------------------------

std::int64_t pixels(const Region &r) { return r.z.size * r.y.size * r.x.size; }

Region input_region(const Problem &p) { return {{0, p.z.size}, {0, p.y.size}, {0, p.x.size}}; }

/// Exchanges the inner two axes of a dense array: N x ROWS x COLUMNS becomes N x COLUMNS x ROWS.
template <class T>
std::vector<T> exchanged(const std::vector<T> &values, std::size_t rows, std::size_t columns) {
    std::vector<T> result(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t column = i % columns, row = i / columns % rows;
        result[i - i % (rows * columns) + column * rows + row] = values[i];
    }
    return result;
}

using Shape = std::vector<std::int64_t>;

/// Two sizes and, of the three axes behind them, as many as a problem of that rank has.
Shape with_rank(std::int64_t outer, std::int64_t inner, Shape zyx, int rank) {
    zyx.erase(zyx.begin(), zyx.end() - rank);
    zyx.insert(zyx.begin(), {outer, inner});
    return zyx;
}

std::vector<float> read(const fs::path &path, const Shape &shape) {
    NpyArray<> array = read_npy(path);
    if (array.shape != shape)
        throw Failure(path.filename().string() + " has the shape " + shape_text(array.shape) +
                      ", ours is " + shape_text(shape));
    return std::move(array.data);
}

/// The numbers of a tensor's file, in NDHWC order.
std::vector<float> read_tensor(const fs::path &path, const Problem &p, std::int64_t channels,
                               const Region &region) {
    const Shape shape =
        with_rank(p.n, channels, {region.z.size, region.y.size, region.x.size}, p.rank);
    return exchanged(read(path, shape), channels, pixels(region));
}

Shape weights_shape(const Problem &p) {
    const bool transposed = p.op == Op::conv_transpose;
    const std::int64_t inner = transposed ? p.k / p.g : p.op == Op::conv ? p.c / p.g : 1;
    return with_rank(transposed ? p.c : p.k, inner, {p.z.kernel, p.y.kernel, p.x.kernel}, p.rank);
}

Case read_case(const fs::path &folder) {
    Case c;
    c.folder = folder;
    std::ifstream file(folder / "case.txt");
    for (std::string name, value; file >> name && std::getline(file >> std::ws, value);)
        c.fields[name] = value;
    return c;
}

/// Reads the problem and its numbers.
void read_data(Case *c) {
    Problem &p = c->problem;
    require(parse_problem(c->fields["problem"], &p));
    c->data.input = read_tensor(c->folder / "input.npy", p, p.c, input_region(p));
    if (has_weights(p.op))
        c->data.weights = read(c->folder / "weights.npy", weights_shape(p));
    if (p.bias)
        c->data.bias = read(c->folder / "bias.npy", {p.k});
}

// --- Running -------------------------------------------------------------------------------------

/// What the library says, in NDHWC order.
struct Answer {
    std::string kernel;
    Region region;
    std::vector<float> values;
    std::vector<std::int64_t> indices;
};

template <class T> Answer run(const Problem &p, const Data &data) {
    selvage::Options options;
    options.adjacent_pixels = true; // the views are dense
    selvage::Layer layer;
    require(make_layer(p, options, data.weights.empty() ? nullptr : data.weights.data(),
                       selvage::WeightOrder::oihw, p.bias ? data.bias.data() : nullptr, &layer));
    Answer answer{layer.plan().kernel(), layer.plan().output_region(), {}, {}};
    const bool planar = p.layout == Layout::nchw;
    const std::size_t inputs = pixels(input_region(p)), outputs = pixels(answer.region);

    std::vector<T> input(data.input.begin(), data.input.end());
    if (planar)
        input = exchanged(input, inputs, p.c);
    std::vector<T> output(p.n * p.k * outputs);
    if (p.indices != selvage::Indices::none)
        answer.indices.resize(output.size());
    require(layer.run(input.data(), output.data(),
                      answer.indices.empty() ? nullptr : answer.indices.data()));
    if (planar) {
        output = exchanged(output, p.k, outputs);
        answer.indices = exchanged(answer.indices, p.k, outputs);
    }
    answer.values.assign(output.begin(), output.end());
    return answer;
}

Answer run(const Problem &p, const Data &data) {
    switch (p.type) {
    case Type::u8: return run<std::uint8_t>(p, data);
    case Type::i8: return run<std::int8_t>(p, data);
    case Type::f32: break;
    }
    return run<float>(p, data);
}

// --- Judging -------------------------------------------------------------------------------------

float largest(const std::vector<float> &values) {
    float result = 0;
    for (float value : values)
        result = std::max(result, std::abs(value));
    return result;
}

bool whole(const std::vector<float> &values) {
    return std::all_of(values.begin(), values.end(),
                       [](float value) { return value == std::floor(value); });
}

std::vector<float> magnitudes(std::vector<float> values) {
    for (float &value : values)
        value = std::abs(value);
    return values;
}

/// The products or elements of one output, and its bias.
double terms(const Problem &p) {
    const auto taps = [](const selvage::Axis &a) {
        return double(a.adaptive > 0 ? a.size : a.kernel);
    };
    const double inputs = p.op == Op::conv || p.op == Op::conv_transpose ? p.c / p.g : 1;
    return inputs * taps(p.z) * taps(p.y) * taps(p.x) + (p.bias ? 1 : 0);
}

/// Whether the problem's sums are right in float whatever their order: all numbers are whole, and
/// the sum of the magnitudes fits the 24 bits of a float.
bool sums_are_exact(const Problem &p, const Data &data) {
    const double x = largest(data.input);
    const double product = p.op == Op::lp_pool ? std::pow(x, p.p)
                           : has_weights(p.op) ? x * largest(data.weights)
                                               : x;
    return whole(data.input) && whole(data.weights) && whole(data.bias) &&
           terms(p) * product + largest(data.bias) < (1 << 24);
}

/// The roundings of an lp_pool whose powers and root are exp(y * log(x)): two units for either
/// function, those of the logarithm y*log(x) times. The root divides the error of the sum by p.
double roundings_of_powers(const Problem &p, const Data &data) {
    double log = 0; // the largest of any element
    for (float value : data.input)
        if (value != 0)
            log = std::max<double>(log, std::abs(std::log(std::abs(value))));
    const double power = 2 * (p.p * log + 1) + 2;
    const double root = 2 * (log + std::log(terms(p)) / p.p + 1) + 2;
    return (power + terms(p)) / p.p + root;
}

/// How far apart two right answers may be, element by element.
///
/// Both sides sum in an order of their own. A rounding is off by at most `unit` of a partial sum,
/// which the sum of the magnitudes bounds. Where sums are exact, what follows them (the quotient of
/// a mean, the root of a 2-norm) is one operation that IEEE 754 rounds rightly, and the answers
/// must be equal. So must those of operators that choose among numbers.
std::vector<double> bounds(const Problem &p, const Data &data, std::size_t count) {
    const bool chooses = !has_weights(p.op) && p.op != Op::avg_pool && p.op != Op::lp_pool;
    const bool powers = p.op == Op::lp_pool && p.p != 1 && p.p != 2;
    if (chooses || (!powers && sums_are_exact(p, data)))
        return std::vector<double>(count);
    constexpr double unit = std::numeric_limits<float>::epsilon() / 2;
    const double roundings = powers ? roundings_of_powers(p, data) : terms(p) + 1;
    const std::vector<float> sums =
        expected_output(p,
                        {magnitudes(data.input), magnitudes(data.weights), magnitudes(data.bias)})
            .values;
    std::vector<double> result(sums.begin(), sums.end());
    for (double &bound : result)
        bound *= 2 * roundings * unit;
    return result;
}

std::string place(const Problem &p, const Region &r, std::size_t index) {
    const std::size_t k = p.k, w = r.x.size, h = r.y.size, d = r.z.size;
    return "n " + std::to_string(index / k / w / h / d) + " channel " + std::to_string(index % k) +
           " z " + std::to_string(index / k / w / h % d) + " y " +
           std::to_string(index / k / w % h) + " x " + std::to_string(index / k % w);
}

/// Throws a Failure where some element differs by more than its bound.
template <class T, class Expected>
void compare(const char *what, const Problem &p, const Answer &answer, const std::vector<T> &found,
             const std::vector<Expected> &expected, const std::vector<double> &bounds) {
    if (found.size() != expected.size())
        throw Failure(std::to_string(found.size()) + " " + what + " instead of " +
                      std::to_string(expected.size()));
    const auto right = [&](std::size_t i) {
        const auto is = double(found[i]), should = double(expected[i]);
        return is == should || (std::isnan(is) && std::isnan(should)) ||
               std::abs(is - should) <= bounds[i];
    };
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = found.size(); i-- > 0;)
        if (!right(i)) {
            ++wrong;
            first = i;
        }
    if (wrong == 0)
        return;
    std::ostringstream text;
    text.precision(9);
    text << answer.kernel << ": " << wrong << " of " << found.size() << " " << what
         << " are wrong; first at " << place(p, answer.region, first) << ": "
         << double(found[first]) << " instead of " << double(expected[first]);
    if (bounds[first] > 0)
        text << " +- " << bounds[first];
    throw Failure(text.str());
}

/// Holds the case in one layout.
void hold(const Case &c, Layout layout) {
    Problem p = c.problem;
    p.layout = layout;
    const Answer answer = run(p, c.data);
    std::vector<float> values;
    std::vector<std::int64_t> indices;
    if (c.has_fault()) {
        const oracle::Result right = expected_output(p, c.data);
        values = right.values;
        indices = right.indices;
    } else {
        values = read_tensor(c.folder / "output.npy", p, p.k, answer.region);
        if (p.indices != selvage::Indices::none) {
            const std::vector<float> file =
                read_tensor(c.folder / "indices.npy", p, p.k, answer.region);
            indices.assign(file.begin(), file.end());
        }
    }
    compare("values", p, answer, answer.values, values, bounds(p, c.data, values.size()));
    if (p.indices != selvage::Indices::none)
        compare("indices", p, answer, answer.indices, indices, std::vector<double>(indices.size()));
}

std::string running; // what the signal handler prints

void print_running(int) {
    // Only calls that are safe in a handler. It runs once, then the fault kills the process.
    if (write(STDERR_FILENO, running.data(), running.size()) < 0)
        _exit(1);
}

/// Whether the case holds in both layouts; where not, says so on stderr.
bool holds(Case *c) {
    const std::string repeat = "\n  " + c->fields["problem"] + "\n  " + c->fields["origin"] + "\n";
    running = c->folder.string() + ": killed by a signal" + repeat;
    try {
        read_data(c);
        hold(*c, Layout::nhwc);
        hold(*c, Layout::nchw);
        return true;
    } catch (const Failure &failure) {
        std::cerr << c->folder.string() << ": " << failure.what() << repeat;
        return false;
    }
}

std::vector<fs::path> folders_in(const fs::path &directory) {
    if (!fs::is_directory(directory))
        throw BadInput(directory.string() + ": is not a directory");
    std::vector<fs::path> folders;
    for (const fs::directory_entry &entry : fs::directory_iterator(directory))
        folders.push_back(entry.path());
    if (folders.empty())
        throw BadInput(directory.string() + ": holds no cases");
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// Runs all cases; 0 where every one holds, else 1.
int hold_all(const fs::path &directory, bool table) {
    const std::vector<fs::path> folders = folders_in(directory);
    std::size_t passed = 0;
    for (const fs::path &folder : folders) {
        Case c = read_case(folder);
        const bool ok = holds(&c);
        passed += ok;
        if (table)
            std::cout << folder.filename().string() << "\t" << c.fields["operator"] << "\t"
                      << c.fields["origin"] << "\t" << (ok ? "passed" : "failed") << "\t"
                      << c.fields["fault"] << "\n";
    }
    std::cerr << passed << " of " << folders.size() << " cases hold\n";
    return passed == folders.size() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App program("Run cases through the library and compare.");
    std::string directory;
    bool table = false;
    program.add_option("DIRECTORY", directory, "Where the folders of the cases are")->required();
    program.add_flag("--table", table,
                     "Print a line for each case, with tabs between its name, operator, origin, "
                     "passed or failed, and what is wrong with the answer that came with it");
    struct sigaction action = {};
    action.sa_handler = print_running;
    action.sa_flags = SA_RESETHAND;
    for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
        sigaction(fault, &action, nullptr);
    try {
        program.parse(argc, argv);
        return hold_all(directory, table);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0) // a call for help
            return program.exit(error);
        std::cerr << "conformance: " << error.what() << "\n";
        return 2;
    } catch (const BadInput &error) {
        std::cerr << "conformance: " << error.what() << "\n";
        return 2;
    } catch (const std::exception &error) {
        std::cerr << "conformance: " << error.what() << "\n";
        return 1;
    }
}
