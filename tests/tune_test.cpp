// `selvage tune`: how it judges, by entrants and a clock of the test's own, and the program from
// outside.

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tuning.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Judging. Time is what entrants say that they took.

double simulated_time = 0;
double simulated_clock() { return simulated_time; }

/// An entrant that takes so many seconds, told by a function for each run.
Entrant entrant(const std::string &schedule, std::function<double()> seconds,
                const std::string &fault = "") {
    return {schedule, [fault] { return fault; }, [seconds] { simulated_time += seconds(); }};
}

Entrant steady(const std::string &schedule, double seconds, const std::string &fault = "") {
    return entrant(
        schedule, [seconds] { return seconds; }, fault);
}

/// Times of a machine that is noisy, and slower for some time now and then.
class NoisyMachine {
public:
    explicit NoisyMachine(unsigned seed) : random_(seed) {}

    Entrant entrant(const std::string &schedule, double seconds) {
        return ::entrant(schedule, [this, seconds] {
            const double level = std::fmod(simulated_time, 1) < 0.5 ? 1 : 1.6;
            return seconds * level * std::uniform_real_distribution<>(0.95, 1.05)(random_);
        });
    }

private:
    std::minstd_rand random_;
};

constexpr double ample = 3600; // seconds: contests end with the most turns

Tuned judge(const std::vector<Entrant> &entrants) { return tune(entrants, ample, simulated_clock); }

std::vector<Entrant> many(NoisyMachine *machine, const std::vector<double> &seconds) {
    std::vector<Entrant> entrants;
    for (double each : seconds)
        entrants.push_back(machine->entrant("s" + std::to_string(entrants.size()), each));
    return entrants;
}

TEST(Judging, FastestWins) {
    const Tuned tuned = judge({steady("default", 1e-3), steady("slow", 2e-3),
                               steady("fast", 0.9e-3), steady("fastest", 0.5e-3)});
    EXPECT_EQ(tuned.winner, 3u);
    EXPECT_EQ(tuned.measured(), 4u);
    EXPECT_NEAR(tuned.entrants[3].score.ratio, 0.5, 1e-9);
    EXPECT_NEAR(tuned.entrants[3].score.seconds, 0.5e-3, 1e-12);
}

TEST(Judging, DefaultStaysWhereNothingIsFaster) {
    EXPECT_EQ(
        judge({steady("default", 1e-3), steady("equal", 1e-3), steady("slow", 1.01e-3)}).winner,
        0u);
    EXPECT_EQ(judge({steady("default", 1e-3)}).winner, 0u);
}

TEST(Judging, SlowNeverWinsWhateverTheNoise) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        NoisyMachine machine(seed);
        std::vector<double> seconds(30, 1.1e-3);
        seconds[0] = 1e-3;
        EXPECT_EQ(judge(many(&machine, seconds)).winner, 0u) << "seed " << seed;
    }
}

TEST(Judging, NoiseAmongEqualsReplacesNothing) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        NoisyMachine machine(seed);
        EXPECT_EQ(judge(many(&machine, std::vector<double>(30, 1e-3))).winner, 0u)
            << "seed " << seed;
    }
}

TEST(Judging, FasterIsFoundInNoise) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        NoisyMachine machine(seed);
        std::vector<double> seconds(30, 1e-3);
        seconds[17] = 0.93e-3;
        EXPECT_EQ(judge(many(&machine, seconds)).winner, 17u) << "seed " << seed;
    }
}

/// Mostly slower, but now and then nearly no time, as a clock that jumped would say.
TEST(Judging, LuckySamplesDoNotCount) {
    int calls = 0;
    const Entrant lucky = entrant("lucky", [&] { return ++calls % 8 == 0 ? 1e-6 : 1.2e-3; });
    EXPECT_EQ(judge({steady("default", 1e-3), lucky}).winner, 0u);
}

TEST(Judging, WrongAndUnableAreLeftOutAndTold) {
    Entrant unable = steady("unable", 0.1e-3);
    unable.prepare = []() -> std::string { throw std::runtime_error("needs 4 channels, not 3"); };
    const Tuned tuned =
        judge({steady("default", 1e-3), unable,
               steady("wrong", 0.1e-3, "output n=0 is 1 instead of 2"), steady("fast", 0.8e-3)});
    EXPECT_EQ(tuned.winner, 3u);
    EXPECT_EQ(tuned.measured(), 2u);
    EXPECT_EQ(tuned.entrants[1].excluded, "needs 4 channels, not 3");
    EXPECT_FALSE(tuned.entrants[1].wrong);
    EXPECT_EQ(tuned.entrants[2].excluded, "output n=0 is 1 instead of 2");
    EXPECT_TRUE(tuned.entrants[2].wrong);
}

TEST(Judging, WrongDefaultIsAFailure) {
    EXPECT_THROW(judge({steady("default", 1e-3, "is 1 instead of 2"), steady("other", 1e-3)}),
                 std::runtime_error);
}

/// Without time, all rounds have their least number of turns: one sample never decides.
TEST(Judging, DecidesByManyTurnsEvenWithoutTime) {
    NoisyMachine machine(1);
    std::vector<double> seconds(30, 1e-3);
    seconds[5] = 0.8e-3;
    const Tuned tuned = tune(many(&machine, seconds), 0, simulated_clock);
    EXPECT_EQ(tuned.winner, 5u);
    EXPECT_EQ(tuned.entrants[5].score.turns, 20);
}

// The program.

struct Outcome {
    int code = 0;
    std::string out, err;
};

std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Tune : public testing::Test {
protected:
    Tune() : folder_(testing::TempDir() + "selvage_tune_test." + std::to_string(getpid())) {
        fs::create_directory(folder_);
    }
    ~Tune() override { fs::remove_all(folder_); }

    std::string path(const std::string &name) const { return folder_ + "/" + name; }

    void write(const std::string &name, const std::string &bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
    }

    /// A command in the test's own folder.
    Outcome shell(const std::string &command) const {
        const std::string line =
            "cd '" + folder_ + "' && (" + command + ") >out.txt 2>err.txt </dev/null";
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(path("out.txt")),
                read(path("err.txt"))};
    }

    Outcome tune(const std::string &arguments) const {
        return shell("'" SELVAGE_TOOL "' tune " + arguments);
    }

    json table(const std::string &name = "table.json") const {
        return json::parse(read(path(name)));
    }

    /// Bad input: exit code 2, nothing on stdout, one line on stderr with the reason.
    void expect_refused(const std::string &arguments, const std::string &reason) const {
        const Outcome outcome = tune(arguments);
        EXPECT_EQ(outcome.code, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.err;
    }

private:
    const std::string folder_;
};

const char *const conv = "conv2d c=16 k=32 in=9x10 kernel=3 pads=1,2,0,1";
const char *const pool = "max_pool2d c=20 in=16x17 kernel=3 stride=2 pads=1,0,0,1";

TEST_F(Tune, WritesATable) {
    const Outcome outcome =
        tune(std::string("'") + conv + "' '" + pool + "' -o table.json --budget 20s --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json result = json::parse(outcome.out), written = table();
    EXPECT_FALSE(written["machine"].get<std::string>().empty());
    ASSERT_EQ(written["schedules"].size(), 2u);
    EXPECT_EQ(result["schedules"], written["schedules"]);
    EXPECT_EQ(result["layers_left"], 0);
    EXPECT_GT(result["geometric_mean"], 0);
    for (std::size_t i = 0; i < 2; ++i) {
        const json &entry = written["schedules"][i], &layer = result["layers"][i];
        EXPECT_EQ(entry["threads"], 1);
        EXPECT_EQ(entry["accuracy"], "exact");
        EXPECT_EQ(layer["schedule"], entry["schedule"]);
        // The first is the default, which is in every round.
        EXPECT_EQ(layer["candidates"][0]["ratio"], 1);
        EXPECT_GE(layer["candidates"][0]["turns"], 20);
        int timed = 0;
        for (const json &candidate : layer["candidates"]) {
            if (candidate.contains("excluded")) {
                EXPECT_EQ(candidate["excluded"], "left out for want of time");
                continue;
            }
            ++timed;
            EXPECT_GT(candidate["milliseconds"], 0);
            EXPECT_LE(candidate["lower_quartile"], candidate["ratio"]);
            EXPECT_LE(candidate["ratio"], candidate["upper_quartile"]);
        }
        // All kernels of a pool that has no numbers to vary, else many.
        EXPECT_GE(timed, i == 0 ? 20 : 10);
    }
    const Outcome check = tune("--check table.json --json");
    ASSERT_EQ(check.code, 0) << check.err;
    EXPECT_EQ(json::parse(check.out)["layers"].size(), 2u);
}

TEST_F(Tune, TellsReaders) {
    const Outcome outcome = tune(std::string("'") + pool + "' -o table.json --budget 1s");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, std::string("[1/1] ") + pool + "\n");
    EXPECT_NE(outcome.out.find(std::string("| ") + pool + " | "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("\ngeometric mean of tuned / cost model, 1 thread(s), 1 layers: "),
              std::string::npos)
        << outcome.out;
}

TEST_F(Tune, ReadsBothKindsOfLayers) {
    write("layers.json", R"(["max_pool2d c=8 in=9x9 kernel=2",
        {"name": "named", "op": "pool_max", "N": 1, "C": 8, "H": 9, "W": 9, "K": 8,
         "kernel": [3, 3], "stride": [1, 1], "dilation": [1, 1], "groups": 1,
         "pads": [1, 0, 0, 1]}])");
    const Outcome outcome = tune("layers.json -o table.json --budget 1s --candidates 3 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json layers = json::parse(outcome.out)["layers"];
    EXPECT_EQ(layers[0]["name"], "max_pool2d c=8 in=9x9 kernel=2");
    EXPECT_EQ(layers[1]["name"], "named");
    EXPECT_EQ(layers[0]["candidates"].size(), 3u);
}

/// A budget that the first layer uses up leaves the others to later runs.
TEST_F(Tune, StopsAtTheBudgetAndGoesOn) {
    const std::string all = std::string("'") + conv + "' '" + pool + "' -o table.json ";
    const Outcome first = tune(all + "--budget 0.001s");
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_NE(first.err.find("the budget is used up with 1 layers left"), std::string::npos)
        << first.err;
    EXPECT_EQ(table()["schedules"].size(), 1u);
    const Outcome second = tune(all + "--budget 0.001s");
    EXPECT_NE(second.err.find("1 of 2 layers are in table.json already"), std::string::npos)
        << second.err;
    EXPECT_EQ(table()["schedules"].size(), 2u);
    const std::string bytes = read(path("table.json"));
    const Outcome third = tune(all + "--json");
    EXPECT_EQ(third.code, 0);
    EXPECT_EQ(json::parse(third.out)["layers"].size(), 0u);
    EXPECT_EQ(read(path("table.json")), bytes);
    const Outcome again = tune(all + "--budget 0.001s --again --json");
    EXPECT_EQ(json::parse(again.out)["layers"].size(), 1u);
}

TEST_F(Tune, GoesOnAfterBeingKilled) {
    constexpr int layers = 6;
    std::string texts;
    for (int i = 0; i < layers; ++i)
        texts += "'max_pool2d c=8 in=9x" + std::to_string(9 + i) + " kernel=2' ";
    const std::string command = "'" SELVAGE_TOOL "' tune " + texts + "-o table.json --budget 30s";
    // Dead once the table has an entry and before it has all.
    const Outcome killed = shell("(exec " + command +
                                 ") & while ! grep -q problem table.json; do sleep 0.01; done; "
                                 "kill -9 $!; wait $!; test $? = 137");
    EXPECT_EQ(killed.code, 0) << killed.err;
    const std::size_t known = table()["schedules"].size();
    EXPECT_GE(known, 1u);
    EXPECT_LT(known, std::size_t(layers));
    const Outcome rest = tune(texts + "-o table.json --json");
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_NE(rest.err.find(std::to_string(known) + " of 6 layers are in table.json already"),
              std::string::npos)
        << rest.err;
    EXPECT_EQ(json::parse(rest.out)["layers"].size(), layers - known);
    EXPECT_EQ(table()["schedules"].size(), std::size_t(layers));
}

TEST_F(Tune, Merges) {
    const auto entry = [](const std::string &problem, const std::string &more,
                          const std::string &schedule) {
        return "{\"problem\": \"" + problem + "\"" + more + ", \"schedule\": \"" + schedule + "\"}";
    };
    const std::string avx2 = ", \"isa\": \"avx2\"";
    write("table.json", "{\"schedules\": [" + entry(conv, avx2, "auto") + ", " +
                            entry(conv, avx2 + ", \"threads\": 2", "auto") + ", " +
                            entry(conv, ", \"isa\": \"sse41\"", "auto") + "], \"machine\": \"A\"}");
    // The same layer: images, bias and activation do not matter.
    write("result.json",
          "{\"machine\": \"B\", \"layers\": [1, 2], \"schedules\": [" +
              entry(std::string(conv) + " n=3 bias=1 act=relu", avx2, "direct_6x2_c64") + ", " +
              entry(pool, avx2 + ", \"accuracy\": \"fast\"", "taps_1") + "]}");
    ASSERT_EQ(tune("--import result.json -o table.json").code, 0);
    const json merged = table();
    EXPECT_EQ(merged["machine"], "A; B");
    const json &all = merged["schedules"];
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["schedule"], "direct_6x2_c64");
    EXPECT_EQ(all[0]["threads"], 1);
    EXPECT_EQ(all[1]["threads"], 2);
    EXPECT_EQ(all[1]["schedule"], "auto");
    EXPECT_EQ(all[2]["isa"], "sse41");
    EXPECT_EQ(all[3]["accuracy"], "fast");
    // Once more changes nothing.
    const std::string bytes = read(path("table.json"));
    ASSERT_EQ(tune("--import result.json -o table.json").code, 0);
    EXPECT_EQ(read(path("table.json")), bytes);
}

TEST_F(Tune, RefusesWhatItCannotUse) {
    const std::string good = std::string("'") + pool + "' -o table.json ";
    expect_refused("", "-o is needed");
    expect_refused("-o table.json", "layers are needed");
    expect_refused(std::string("'") + pool + "'", "-o is needed");
    expect_refused("'conv2d in=0x3 kernel=1' -o table.json",
                   "size 0 with pads 0,0 leaves no input");
    expect_refused("missing.json -o table.json", "missing.json: cannot read");
    expect_refused(good + "--budget 10", "--budget 10: must be a time such as 90s, 10m or 1h");
    expect_refused(good + "--budget -1s", "--budget -1s: must be a time");
    expect_refused(good + "--threads 0", "--threads");
    expect_refused(good + "--isa neon", "--isa neon is not one of sse41, avx2, avx512");
    expect_refused(good + "--accuracy rough", "--accuracy");
    expect_refused(good + "--candidates 0", "--candidates");
    expect_refused("'lp_pool2d c=4 in=9x9 kernel=2' -o table.json",
                   "lp_pool2d is not among the operators that are measured");
    expect_refused("'max_pool2d c=4 in=9x9 adaptive=2' -o table.json", "adaptive");
    expect_refused("'max_pool2d n=0 c=4 in=9x9 kernel=2' -o table.json", "the output is empty");
    expect_refused(good + "--check table.json --import x.json", "--check");
    expect_refused(std::string("'") + pool + "' -o nowhere/table.json", "nowhere/table.json");
    expect_refused("--check missing.json", "missing.json: cannot be read");
    expect_refused(std::string("'") + pool + "' --export out --target sparc",
                   "--target sparc is not one of host, x86-64, arm-64");
    fs::create_directories(path("full/kernels"));
    expect_refused(std::string("'") + pool + "' --export full", "not an empty folder");
    EXPECT_FALSE(fs::exists(path("table.json")));
}

TEST_F(Tune, RefusesTablesWithTheirPlace) {
    const std::vector<std::pair<std::string, std::string>> bad = {
        {"{", "is not JSON at line 1, column 2"},
        {"[]", "must be an object with an array \"schedules\""},
        {R"({"schedules": [1]})", "schedules[0]: must be an object"},
        {R"({"schedules": [{"isa": "avx2"}]})", "schedules[0]: \"problem\" must be a string"},
        {R"({"schedules": [{"problem": "conv9d"}]})", "schedules[0].problem: "},
        {R"({"schedules": [{"problem": "max_pool2d in=9x9 kernel=2", "isa": "mmx"}]})",
         "schedules[0].isa: 'mmx' is not one of sse41, neon, avx2, avx512"},
        {R"({"schedules": [{"problem": "max_pool2d in=9x9 kernel=2", "isa": "avx2",
             "threads": 0}]})",
         "schedules[0].threads: 0 is not within 1..1024"},
        {R"({"schedules": [{"problem": "max_pool2d in=9x9 kernel=2", "isa": "avx2",
             "accuracy": "rough"}]})",
         "schedules[0].accuracy: 'rough' is not one of exact, fast"},
        {R"({"schedules": [{"problem": "max_pool2d in=9x9 kernel=2", "isa": "avx2"}]})",
         "schedules[0]: \"schedule\" must be a string"},
    };
    for (const auto &[bytes, reason] : bad) {
        write("table.json", bytes);
        expect_refused(std::string("'") + pool + "' -o table.json", "table.json: " + reason);
        EXPECT_EQ(read(path("table.json")), bytes);
    }
}

/// What an exported folder needs on the machine where it measures: a compiler for it, and here
/// what runs its programs.
struct Machine {
    const char *target, *isa, *make, *run;
};

void PrintTo(const Machine &machine, std::ostream *out) { *out << machine.target; }

class Export : public Tune, public testing::WithParamInterface<Machine> {};

TEST_P(Export, MeasuresAndIsImported) {
    const Machine &machine = GetParam();
    const Outcome exported =
        tune(std::string("'") + conv + "' '" + pool +
             "' 'conv_transpose2d c=4 k=8 in=5x6 kernel=3 stride=2 bias=1'"
             " 'filter2d c=3 in=9x11 kernel=3 pads=1' --candidates 2 --export out --target " +
             machine.target + " --isa " + machine.isa);
    ASSERT_EQ(exported.code, 0) << exported.err;
    const Outcome made =
        shell(std::string("make -C out CXXFLAGS='-O1 -Wall -Wextra -Werror' ") + machine.make);
    ASSERT_EQ(made.code, 0) << made.err;
    const Outcome measured =
        shell("cd out && " + std::string(machine.run) + " ./measure 0.05 ../result.json");
    ASSERT_EQ(measured.code, 0) << measured.err;
    const json result = table("result.json");
    EXPECT_FALSE(result["machine"].get<std::string>().empty());
    ASSERT_EQ(result["layers"].size(), 4u);
    for (const json &layer : result["layers"])
        for (const json &candidate : layer["candidates"])
            EXPECT_GT(candidate["milliseconds"], 0) << candidate;
    ASSERT_EQ(tune("--import result.json -o table.json").code, 0);
    ASSERT_EQ(table()["schedules"].size(), 4u);
    EXPECT_EQ(table()["schedules"][0]["isa"], machine.isa);
    // The table serves `selvage kernel` for that machine.
    const Outcome kernel =
        shell(std::string("'") + SELVAGE_TOOL + "' kernel edge '" + conv + "' --target " +
              machine.target + " --isa " + machine.isa + " --schedule table.json --check -v");
    EXPECT_EQ(kernel.code, 0) << kernel.err;
    EXPECT_EQ(kernel.err.find("auto is taken"), std::string::npos) << kernel.err;
}

/// The kernels are not trusted: one that computes something else is told, and does not win.
TEST_P(Export, TellsWrongKernels) {
    const Machine &machine = GetParam();
    ASSERT_EQ(tune(std::string("'") + pool + "' --candidates 2 --export out --target " +
                   machine.target + " --isa " + machine.isa)
                  .code,
              0);
    std::string layers = read(path("out/layers.cpp"));
    const std::string shape = "_1_shape(1, 16, 17)"; // of the second candidate
    ASSERT_NE(layers.find(shape.substr(0, 8)), std::string::npos);
    layers.replace(layers.find(shape), shape.size(), "_1_shape(1, 15, 18)");
    write("out/layers.cpp", layers);
    const Outcome made = shell(std::string("make -C out CXXFLAGS=-O1 ") + machine.make);
    ASSERT_EQ(made.code, 0) << made.err;
    const Outcome measured =
        shell("cd out && " + std::string(machine.run) + " ./measure 0.01 ../result.json");
    EXPECT_EQ(measured.code, 1);
    EXPECT_NE(measured.err.find("wrong result"), std::string::npos) << measured.err;
    const json layer = table("result.json")["layers"][0];
    EXPECT_TRUE(layer["candidates"][1].contains("excluded")) << layer;
    EXPECT_EQ(layer["schedule"], layer["candidates"][0]["schedule"]);
}

INSTANTIATE_TEST_SUITE_P(Machines, Export,
                         testing::Values(Machine{"host", "sse41", "", ""},
                                         Machine{"arm-64", "neon",
                                                 "CXX=aarch64-linux-gnu-g++ LDFLAGS=-static",
                                                 "qemu-aarch64-static"}),
                         [](const auto &info) { return std::string(info.param.isa); });

} // namespace
