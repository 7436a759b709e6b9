// Finds out which kernels of layers.cpp are the fastest on this machine; README.md tells how.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include <machine.h>
#include <tuning.h>

#include "exported.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

void require(const selvage_status &status) {
    if (status.code != SELVAGE_OK)
        throw std::runtime_error(status.text);
}

/// A layer with what all of its candidates share.
class Course {
public:
    explicit Course(const ExportedLayer &layer)
        : layer_(layer), data_(bench::integer_data(layer.sizes, layer.image)),
          input_bytes_(data_.input.begin(), data_.input.end()), output_bytes_(layer.outputs) {}

    /// The candidates of the layer; they last as long as this.
    std::vector<Entrant> entrants() {
        std::vector<Entrant> result;
        for (const Candidate &each : layer_.candidates) {
            const auto memory = std::make_shared<Memory>();
            result.push_back({each.schedule, [=] { return prepare(each, memory.get()); },
                              [=] { run(each, memory.get()); }});
        }
        return result;
    }

private:
    struct Memory {
        selvage_shape shape;
        bench::Floats packed, scratch;
        std::size_t scratch_bytes = 0;
        selvage_status status;
    };

    static bench::Floats allocate(std::size_t bytes) {
        return bench::Floats((bytes + sizeof(float) - 1) / sizeof(float));
    }

    /// Returns what is wrong with the result.
    std::string prepare(const Candidate &candidate, Memory *memory) {
        memory->shape = candidate.shape();
        candidate.scratch_bytes(&memory->shape, &memory->scratch_bytes, &memory->status);
        require(memory->status);
        memory->scratch = allocate(memory->scratch_bytes);
        memory->packed = allocate(candidate.packed_bytes);
        if (candidate.packed_bytes > 0) {
            candidate.pack(data_, memory->packed.data(), &memory->status);
            require(memory->status);
        }
        output_.assign(layer_.outputs, std::numeric_limits<float>::quiet_NaN());
        run(candidate, memory);
        require(memory->status);
        if (layer_.image)
            output_.assign(output_bytes_.begin(), output_bytes_.end());
        return checksum(output_) == layer_.checksum
                   ? ""
                   : "wrong result: the checksum of the output is another";
    }

    void run(const Candidate &candidate, Memory *memory) {
        const void *const input =
            layer_.image ? static_cast<void *>(input_bytes_.data()) : data_.input.data();
        void *const output =
            layer_.image ? static_cast<void *>(output_bytes_.data()) : output_.data();
        candidate.run(&memory->shape, input, memory->packed.data(), output, memory->scratch.data(),
                      memory->scratch_bytes, &memory->status);
    }

    const ExportedLayer &layer_;
    bench::Data data_;
    Bytes input_bytes_, output_bytes_; ///< of images, in place of floats
    bench::Floats output_;
};

// Results as JSON.

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\')
            result += '\\';
        result += static_cast<unsigned char>(each) < ' ' ? ' ' : each;
    }
    return result + '"';
}

/// Texts with commas between them.
class List {
public:
    void add(const std::string &item) { text_ += (text_.empty() ? "\n  " : ",\n  ") + item; }
    std::string text() const { return "[" + text_ + "\n ]"; }

private:
    std::string text_;
};

std::string candidate_text(const Measured &each) {
    std::ostringstream text;
    text << "   {\"schedule\": " << quoted(each.schedule);
    if (each.excluded.empty())
        text << ", \"milliseconds\": " << each.score.seconds * 1e3
             << ", \"ratio\": " << each.score.ratio
             << ", \"lower_quartile\": " << each.score.lower_quartile
             << ", \"upper_quartile\": " << each.score.upper_quartile
             << ", \"turns\": " << each.score.turns;
    else
        text << ", \"excluded\": " << quoted(each.excluded);
    return text.str() + "}";
}

class Results {
public:
    void add(const ExportedLayer &layer, const Tuned &tuned) {
        const Measured &winner = tuned.entrants[tuned.winner];
        const std::string key =
            "{\"problem\": " + quoted(layer.problem) + ", \"isa\": " + quoted(layer.isa) + ", ";
        const std::string schedule = "\"schedule\": " + quoted(winner.schedule);
        schedules_.add(key + "\"threads\": 1, \"accuracy\": \"exact\", " + schedule + "}");
        List candidates;
        for (const Measured &each : tuned.entrants)
            candidates.add(candidate_text(each));
        layers_.add(key + "\"name\": " + quoted(layer.name) + ", " + schedule +
                    ", \"candidates\": " + candidates.text() + "}");
    }

    std::string text() const {
        return "{\"machine\": " + quoted(bench::machine_name()) +
               ",\n \"schedules\": " + schedules_.text() + ",\n \"layers\": " + layers_.text() +
               "}\n";
    }

private:
    List schedules_, layers_;
};

/// Whether this CPU has the instruction set of a layer.
bool is_runnable(const ExportedLayer &layer) {
    const selvage_shape shape = layer.candidates.front().shape();
    std::size_t bytes = 0;
    return layer.candidates.front().scratch_bytes(&shape, &bytes, nullptr) != SELVAGE_UNSUPPORTED;
}

/// Writes the file anew, complete or not at all.
void write(const std::string &path, const std::string &text) {
    const std::string written = path + ".tmp";
    std::ofstream file(written);
    file << text;
    file.close();
    if (!file || std::rename(written.c_str(), path.c_str()) != 0)
        throw std::runtime_error(path + ": could not be written");
}

/// Measures a layer; returns whether all candidates were right.
bool measure(const ExportedLayer &layer, double seconds, Results *results) {
    Course course(layer);
    const Tuned tuned = tune(course.entrants(), seconds, bench::processor_time);
    results->add(layer, tuned);
    bool right = true;
    for (const Measured &each : tuned.entrants) {
        right = right && !each.wrong;
        if (each.wrong)
            std::cerr << layer.name << ": " << each.schedule << ": " << each.excluded << "\n";
    }
    return right;
}

/// Measures all layers within so many seconds; returns the exit code.
int measure(double budget, const std::string &path) {
    const double end = bench::now() + budget;
    Results results;
    int code = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const ExportedLayer &layer = layers[i];
        std::cerr << "[" << i + 1 << "/" << layers.size() << "] " << layer.isa << " " << layer.name
                  << (is_runnable(layer) ? "" : ": left out, this CPU lacks the instructions")
                  << "\n";
        if (!is_runnable(layer))
            continue;
        const double left = end - bench::now();
        try {
            if (!measure(layer, left / static_cast<double>(layers.size() - i), &results))
                code = 1;
        } catch (const std::runtime_error &error) {
            std::cerr << layer.name << ": " << error.what() << "\n";
            code = 1;
        }
        write(path, results.text());
    }
    return code;
}

} // namespace

int main(int argc, char **argv) try {
    const double minutes = argc < 2 ? 10 : std::atof(argv[1]);
    if (argc > 3 || !(minutes > 0)) {
        const bool help = argc == 2 && std::strcmp(argv[1], "--help") == 0;
        (help ? std::cout : std::cerr)
            << "usage: measure [MINUTES [RESULT.json]], if left out 10 and result.json\n";
        return help ? 0 : 2;
    }
    return measure(minutes * 60, argc < 3 ? "result.json" : argv[2]);
} catch (const std::exception &error) {
    std::cerr << "measure: " << error.what() << "\n";
    return 1;
}
