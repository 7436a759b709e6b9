// The program `selvage`, run as a user would: what it prints, what it writes, how it refuses.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <selvage/version.h>

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The bytes that numpy.save writes for this header text and these numbers.
template <class T = float>
std::string npy(const std::string &header, const std::vector<T> &numbers) {
    std::string padded = header;
    padded.resize(128 - 10 - 1, ' ');
    std::string bytes = "\x93NUMPY\x01";
    bytes += std::string("\0\x76\0", 3) + padded + "\n";
    return bytes.append(reinterpret_cast<const char *>(numbers.data()), sizeof(T) * numbers.size());
}

std::string header(const std::string &shape, const std::string &descr = "<f4") {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

struct Outcome {
    int code;
    std::string out, err;
};

class Tool : public testing::Test {
protected:
    Tool() : folder_(testing::TempDir() + "selvage_tool_test." + std::to_string(getpid())) {
        fs::create_directory(folder_);
    }
    ~Tool() override { fs::remove_all(folder_); }

    fs::path path(const std::string &name) const { return folder_ / name; }

    /// Runs the program in the test's own folder; the arguments are shell words.
    Outcome run(const std::string &arguments) const {
        const std::string command = "cd '" + folder_.string() + "' && '" SELVAGE_TOOL "' " +
                                    arguments + " >out.txt 2>err.txt </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(path("out.txt")),
                read_file(path("err.txt"))};
    }

    void expect_prints(const std::string &arguments, const std::string &text) const {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << arguments;
        EXPECT_EQ(outcome.out, text) << arguments;
        EXPECT_EQ(outcome.err, "") << arguments;
    }

    /// Bad input: exit code 2, nothing on stdout, one line on stderr.
    void expect_refused(const std::string &arguments, const std::string &reason) const {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_EQ(outcome.err, "selvage: " + reason + "\n") << arguments;
    }

private:
    fs::path folder_;
};

// window

TEST_F(Tool, window_tells_the_pads_of_a_convention) {
    expect_prints("window --size 224 --kernel 3 --stride 2 --same tf", "pads     0,1\n"
                                                                       "before   0\n"
                                                                       "after    1\n"
                                                                       "outputs  112\n"
                                                                       "unused   0\n");
}

TEST_F(Tool, window_json_is_one_object) {
    expect_prints("window --size 224 --kernel 3 --stride 2 --same tf --json",
                  "{\"before\":[0],\"after\":[1],\"outputs\":[112],\"unused\":[0]}\n");
    expect_prints(
        "window --json --size 10x11x12 --kernel 3x2x1 --stride 2x3x5 --pads 1,2,0,3,4,5",
        "{\"before\":[1,2,0],\"after\":[2,4,4],\"outputs\":[6,6,4],\"unused\":[0,0,1]}\n");
}

TEST_F(Tool, window_takes_pads_begins_first) {
    expect_prints("window --size 3x4 --kernel 2x3 --pads 1,2,0,3", "pads     1,2,0,3\n"
                                                                   "before   1,2\n"
                                                                   "after    0,3\n"
                                                                   "outputs  3x7\n"
                                                                   "unused   0,0\n");
}

TEST_F(Tool, window_resolves_every_convention) {
    const auto expect_pads = [&](const std::string &same, const std::string &pads) {
        const Outcome outcome = run("window --size 10 --kernel 4 --stride 3 --same " + same);
        EXPECT_EQ(outcome.code, 0) << same;
        EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')), "pads     " + pads) << same;
    };
    expect_pads("valid", "0,0");
    expect_pads("torch", "1,2");
    expect_pads("tf", "1,2");
    expect_pads("onnx-upper", "1,2");
    expect_pads("onnx-lower", "2,1");
    expect_pads("scipy", "2,1");
    expect_pads("scipy-correlate2d", "1,2");
    expect_pads("causal", "3,0");
    expect_pads("keep", "10,11");
}

TEST_F(Tool, window_phase_alone_is_centred_and_combines_with_pads) {
    const std::string axis = "window --json --size 9 --kernel 4 --stride 2 ";
    expect_prints(axis + "--phase 1",
                  "{\"before\":[1],\"after\":[0],\"outputs\":[4],\"unused\":[0]}\n");
    expect_prints(axis + "--phase 1 --pads 0,0",
                  "{\"before\":[-1],\"after\":[0],\"outputs\":[3],\"unused\":[0]}\n");
    expect_prints(axis + "--phase 1 --same torch",
                  "{\"before\":[0],\"after\":[1],\"outputs\":[4],\"unused\":[0]}\n");
    expect_prints("window --json --size 9x9 --kernel 4 --stride 2 --phase 1,0",
                  "{\"before\":[1,2],\"after\":[0,1],\"outputs\":[4,5],\"unused\":[0,0]}\n");
}

TEST_F(Tool, window_negative_pads_crop) {
    for (const char *pads : {"--pads -1,2", "--pads=-1,2"})
        expect_prints(std::string("window --json --size 10 --kernel 3 ") + pads,
                      "{\"before\":[-1],\"after\":[2],\"outputs\":[9],\"unused\":[0]}\n");
    expect_prints("window --json --size 10 --kernel 3 --pads -1,-2",
                  "{\"before\":[-1],\"after\":[0],\"outputs\":[5],\"unused\":[2]}\n");
}

TEST_F(Tool, window_rounds_up_and_dilates) {
    expect_prints("window --json --size 6 --kernel 3 --stride 2 --ceil",
                  "{\"before\":[0],\"after\":[1],\"outputs\":[3],\"unused\":[0]}\n");
    expect_prints("window --json --size 6 --kernel 3 --stride 2",
                  "{\"before\":[0],\"after\":[0],\"outputs\":[2],\"unused\":[1]}\n");
    expect_prints("window --json --size 22 --kernel 3 --dilation 2 --same onnx-upper",
                  "{\"before\":[2],\"after\":[2],\"outputs\":[22],\"unused\":[0]}\n");
}

TEST_F(Tool, window_crops_transposed_convolutions) {
    const std::string axis = "window --transposed --size 16 --kernel 5 --stride 2 ";
    expect_prints(axis + "--same tf", "pads     1,2\n"
                                      "before   1\n"
                                      "outputs  32\n");
    expect_prints(axis + "--json", "{\"pads\":[0,0],\"before\":[0],\"outputs\":[35]}\n");
    expect_prints(axis + "--json --pads 1,-2 --phase 1 --output-padding 3",
                  "{\"pads\":[1,-2],\"before\":[0],\"outputs\":[40]}\n");
    // A phase alone undoes a centred convolution of 32 elements.
    expect_prints(axis + "--json --phase 1", "{\"pads\":[2,1],\"before\":[1],\"outputs\":[33]}\n");
    expect_prints("window --json --transposed --size 3x4 --kernel 2x3 --stride 2x1 --pads 0,1,1,0",
                  "{\"pads\":[0,1,1,0],\"before\":[0,1],\"outputs\":[5,5]}\n");
}

TEST_F(Tool, window_finds_the_pads_of_an_output_shape) {
    const std::string axis = "window --json --transposed --size 3x3 --kernel 3 --stride 2 ";
    expect_prints(axis + "--output-shape 6x4",
                  "{\"pads\":[1,2,0,1],\"before\":[1,2],\"outputs\":[6,4]}\n");
    expect_prints(axis + "--output-shape 6x4 --same onnx-upper",
                  "{\"pads\":[0,1,1,2],\"before\":[0,1],\"outputs\":[6,4]}\n");
}

TEST_F(Tool, window_tells_the_longest_window_of_an_adaptive_pool) {
    expect_prints("window --size 7x8 --adaptive 3x4", "pads     0,0,0,0\n"
                                                      "before   0,0\n"
                                                      "after    0,0\n"
                                                      "outputs  3x4\n"
                                                      "unused   0,0\n"
                                                      "kernel   3x2\n");
    expect_prints(
        "window --json --size 7x8 --adaptive 1",
        "{\"before\":[0,0],\"after\":[0,0],\"outputs\":[1,1],\"unused\":[0,0],\"kernel\":[7,8]}\n");
}

TEST_F(Tool, window_centres_the_input_in_a_size) {
    expect_prints("window --size 5x8 --to 8x3", "pads     1,-2,2,-3\n"
                                                "before   1,-2\n"
                                                "after    2,0\n"
                                                "outputs  8x3\n"
                                                "unused   0,3\n");
}

TEST_F(Tool, output_that_is_lost_is_a_failure) {
    // A later redirection would win, so the program's own ends the shell first.
    EXPECT_EQ(run("window --size 5 --kernel 3 >/dev/full 2>err.txt || exit $?; true").code, 1);
}

TEST_F(Tool, window_refuses_with_one_line) {
    expect_refused("window --size 7", "--kernel is required");
    expect_refused("window --size 7 --kernel 0", "kernel 0 is less than 1");
    expect_refused("window --size 7 --kernel 3 --stride 0", "stride 0 is less than 1");
    expect_refused("window --size 7 --kernel 3 --stride 2 --phase 2",
                   "phase 2 is not in 0..1 (stride 2)");
    expect_refused("window --size 7 --kernel 3 --same ''", "--same: a value is missing");
    expect_refused("window --size 7 --kernel 3 --pads ''", "--pads: a value is missing");
    expect_refused("window --size 7 --kernel 3x", "--kernel '3x': a number is missing");
    expect_refused("window --size 224x --kernel 3", "--size '224x': a number is missing");
    expect_refused("window --size 7 --kernel 3 --pads 1,,2,3",
                   "--pads '1,,2,3': a number is missing");
    expect_refused("window --size 7.5 --kernel 3",
                   "--size 7.5: '7.5' is not a whole number of 64 bits");
    expect_refused("window --size 1x2x3 --kernel 3x3", "--kernel has 2 values for 3 axes");
    expect_refused("window --size 7 --kernel 3 --pads 1,2,3",
                   "--pads has 3 values for 1 axes; give one, or all begins and then all ends");
    expect_refused("window --size 7 --kernel 3 --same SAME",
                   "--same SAME: must be one of valid, torch, tf, onnx-upper, onnx-lower, scipy, "
                   "scipy-correlate2d, causal, keep");
    expect_refused("window --size 7 --kernel 3 --same tf --pads 1,1", "--pads excludes --same");
    expect_refused("window --size 7 --kernel 3 --pad 1", "'--pad' is not known here; see --help");
    expect_refused("window --kernal 3 --size 6", "'--kernal' is not known here; see --help");
    expect_refused("windw --size 6", "'windw' is not known here; see --help");
    expect_refused("window --size 3 --kernel 6 --stride 2",
                   "size 3 with pads 0,0 and phase 0 is too short for kernel 6 with dilation 1 at "
                   "stride 2: the number of outputs would be negative");
    expect_refused("window --size 9223372036854775807 --kernel 3 --same keep --stride 2",
                   "size 9223372036854775807, kernel 3, stride 2, dilation 1, pads 0,0: a value, "
                   "the extent of the window or the padded size exceeds 2147483647");
    expect_refused("window --size 7 --adaptive 0", "--adaptive 0 is less than 1");
    expect_refused("window --size 7 --adaptive 3 --stride 2", "--stride excludes --adaptive");
    expect_refused("window --size 7 --to 9 --kernel 3", "--kernel excludes --to");
    expect_refused("window --size 7 --kernel 3 --output-shape 14",
                   "--output-shape requires --transposed");
    expect_refused("window --size 7 --kernel 3 --transposed --output-padding -1",
                   "output_padding -1 is not in 0..2147483647");
    expect_refused("window --size 3 --kernel 3 --transposed --output-padding 9223372036854775807 "
                   "--output-shape 3",
                   "output_padding 9223372036854775807 is not in 0..2147483647");
    expect_refused("window --size 3 --kernel 3 --transposed --output-shape 3 --same causal",
                   "outputs 3: takes same onnx-upper or onnx-lower, no other");
    expect_refused("window --size 3 --to=-1", "outputs -1 is not in 0..2147483647");
    expect_refused("window --size 7 --kernel 3 --transposed --ceil",
                   "--ceil excludes --transposed");
    expect_refused("", "A subcommand is required");
}

TEST_F(Tool, tells_its_version) { expect_prints("--version", "selvage " SELVAGE_VERSION "\n"); }

// apply

constexpr char conv[] = "'conv2d in=3x4 kernel=2x3 pads=1,2,0,3'";

class Apply : public Tool {
protected:
    Apply() {
        write_file(path("x.npy"),
                   npy(header("(1, 3, 4, 1)"), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
        write_file(path("w.npy"), npy(header("(1, 1, 2, 3)"), {1, 2, 3, 4, 5, 6}));
        write_file(path("b.npy"), npy(header("(1,)"), {-50}));
    }

    void expect_writes(const std::string &arguments, const std::string &bytes) const {
        const Outcome outcome = run("apply " + arguments + " -o y.npy");
        EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_EQ(outcome.err, "") << arguments;
        EXPECT_TRUE(read_file(path("y.npy")) == bytes) << arguments;
    }

    /// As expect_refused(), and nothing but the old output may be there afterwards.
    void expect_kept(const std::string &arguments, const std::string &reason) const {
        write_file(path("y.npy"), "old");
        expect_refused("apply " + arguments + " -o y.npy", reason);
        EXPECT_EQ(read_file(path("y.npy")), "old") << arguments;
        for (const fs::directory_entry &entry : fs::directory_iterator(path("")))
            EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
};

TEST_F(Apply, PC_025_four_different_sides) {
    const std::vector<float> y = {6,  17, 32, 47, 32,  16,  0,   33,  69, 106, 127,
                                  79, 36, 0,  69, 133, 190, 211, 127, 56, 0};
    const std::string files = " -i x.npy -w w.npy";
    expect_writes(conv + files, npy(header("(1, 3, 7, 1)"), y));
    expect_writes(conv + files + " --schedule reference", npy(header("(1, 3, 7, 1)"), y));
    // Every machine that the library runs on has this instruction set.
    expect_writes(conv + files + " --isa sse41", npy(header("(1, 3, 7, 1)"), y));
}

// The numbers of w.npy are all different, so that each order gives others.
TEST_F(Apply, takes_weights_in_either_order) {
    write_file(path("x.npy"), npy(header("(1, 3, 2)"), {1, 2, 3, 4, 5, 6}));
    const std::vector<float> w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::string conv = "'conv1d c=2 k=3 in=3 kernel=2' -i x.npy -w w.npy";
    write_file(path("w.npy"), npy(header("(2, 2, 3)"), w));
    expect_writes(conv + " --order hwio", npy(header("(1, 2, 3)"), {70, 80, 90, 114, 132, 150}));
    expect_kept(conv, "w.npy: has the shape (2, 2, 3), the problem asks for (3, 2, 2)");
    expect_kept(conv + " --order iohw", "--order: iohw not in {oihw,hwio}");
    write_file(path("w.npy"), npy(header("(3, 2, 2)"), w));
    expect_writes(conv + " --order oihw", npy(header("(1, 2, 3)"), {29, 69, 109, 49, 121, 193}));

    const std::string transposed = "'conv_transpose1d c=2 k=1 in=3 kernel=2' -i x.npy -w w.npy";
    write_file(path("w.npy"), npy(header("(2, 2, 1)"), {1, 2, 3, 4}));
    expect_writes(transposed + " --order hwio", npy(header("(1, 4, 1)"), {5, 22, 42, 39}));
}

TEST_F(Apply, adds_the_bias_and_clamps) {
    std::vector<float> y = {6,  17, 32, 47, 32,  16,  0,   33,  69, 106, 127,
                            79, 36, 0,  69, 133, 190, 211, 127, 56, 0};
    for (float &each : y)
        each = std::min(100.0f, std::max(-20.0f, each - 50));
    expect_writes("'conv2d in=3x4 kernel=2x3 pads=1,2,0,3 bias=1 act=clamp:-20:100' -i x.npy "
                  "-w w.npy -b b.npy",
                  npy(header("(1, 3, 7, 1)"), y));
}

TEST_F(Apply, pools_take_no_weights) {
    expect_writes("'max_pool2d in=3x4 kernel=2 stride=2 ceil=1' -i x.npy",
                  npy(header("(1, 2, 2, 1)"), {6, 8, 10, 12}));
    expect_writes("'avg_pool2d in=3x4 kernel=2 same=tf stride=2 include_pad=1' -i x.npy",
                  npy(header("(1, 2, 2, 1)"), {3.5, 5.5, 4.75, 5.75}));
}

TEST_F(Apply, shapes_follow_rank_and_layout) {
    // Channel 0 is 1,2,3 and channel 1 is 10,20,30.
    write_file(path("ncw.npy"), npy(header("(1, 2, 3)"), {1, 2, 3, 10, 20, 30}));
    write_file(path("nwc.npy"), npy(header("(1, 3, 2)"), {1, 10, 2, 20, 3, 30}));
    write_file(path("w.npy"), npy(header("(2, 2, 2)"), {1, 2, 3, 4, 1, 0, 0, 1}));
    const std::string problem = "'conv1d c=2 k=2 in=3 kernel=2 pads=1,0 layout=";
    expect_writes(problem + "nchw' -i ncw.npy -w w.npy",
                  npy(header("(1, 2, 3)"), {42, 115, 188, 10, 21, 32}));
    expect_writes(problem + "nhwc' -i nwc.npy -w w.npy",
                  npy(header("(1, 3, 2)"), {42, 10, 115, 21, 188, 32}));

    write_file(path("ncdhw.npy"), npy(header("(1, 1, 2, 1, 3)"), {1, 2, 3, 4, 5, 6}));
    write_file(path("ndhwc.npy"), npy(header("(1, 2, 1, 3, 1)"), {1, 2, 3, 4, 5, 6}));
    const std::string pool = "'max_pool3d in=2x1x3 kernel=2x1x2 layout=";
    expect_writes(pool + "nchw' -i ncdhw.npy", npy(header("(1, 1, 1, 1, 2)"), {5, 6}));
    expect_writes(pool + "nhwc' -i ndhwc.npy", npy(header("(1, 1, 1, 2, 1)"), {5, 6}));
}

TEST_F(Apply, transposes_with_input_channels_first) {
    write_file(path("t.npy"), npy(header("(1, 3, 1)"), {1, 2, 3}));
    write_file(path("w.npy"), npy(header("(1, 2, 3)"), {1, 10, 100, 2, 20, 200}));
    // The full results are 1,10,102,20,203,30,300 and twice as much.
    const std::string problem = "'conv_transpose1d k=2 in=3 kernel=3 stride=2 pads=1,2";
    expect_writes(problem + "' -i t.npy -w w.npy",
                  npy(header("(1, 4, 2)"), {10, 20, 102, 204, 20, 40, 203, 406}));
    expect_writes(problem + " output_padding=1' -i t.npy -w w.npy",
                  npy(header("(1, 5, 2)"), {10, 20, 102, 204, 20, 40, 203, 406, 30, 60}));
}

TEST_F(Apply, images_are_bytes) {
    write_file(path("u.npy"), npy<std::uint8_t>(header("(1, 1, 3, 1)", "|u1"), {1, 250, 4}));
    const std::string filter = "'filter2d in=1x3 kernel=1x3 pads=0,1,0,1";
    const auto expect_bytes = [&](const std::string &arguments,
                                  const std::vector<std::uint8_t> &bytes) {
        expect_writes(arguments, npy(header("(1, 1, 3, 1)", "|u1"), bytes));
    };
    // 126, 252.5 and 129, a half to even.
    write_file(path("f.npy"), npy(header("(1, 1, 1, 3)"), {0.5, 1, 0.5}));
    expect_bytes(filter + "' -i u.npy -w f.npy", {126, 252, 129});
    write_file(path("f.npy"), npy(header("(1, 1, 1, 3)"), {-1, 2, -1}));
    expect_bytes(filter + "' -i u.npy -w f.npy", {0, 255, 0});
    // The same as the first, a half up.
    write_file(path("s.npy"), npy<std::int16_t>(header("(1, 1, 1, 3)", "<i2"), {1, 2, 1}));
    expect_bytes(filter + " weights=fixed:1' -i u.npy -w s.npy", {126, 253, 129});

    // Each channel has a kernel of its own: the same pixel, and twice the next one.
    write_file(path("c.npy"), npy<std::uint8_t>(header("(1, 1, 2, 2)", "|u1"), {10, 20, 30, 40}));
    write_file(path("f.npy"), npy(header("(2, 1, 1, 2)"), {1, 0, 0, 2}));
    expect_writes("'filter2d c=2 in=1x2 kernel=1x2 pads=0,0,0,1' -i c.npy -w f.npy",
                  npy<std::uint8_t>(header("(1, 1, 2, 2)", "|u1"), {10, 80, 30, 0}));

    expect_bytes("'max_pool2d in=1x3 kernel=1x3 pads=0,2,0,0 type=u8' -i u.npy", {1, 250, 250});
    write_file(path("i.npy"), npy<std::int8_t>(header("(1, 1, 2, 1)", "|i1"), {-1, -128}));
    expect_writes("'pad2d in=1x2 to=2x3 value=-7 type=i8' -i i.npy",
                  npy<std::int8_t>(header("(1, 2, 3, 1)", "|i1"), {-1, -128, -7, -7, -7, -7}));
}

TEST_F(Apply, tells_where_maxima_lie) {
    // Both windows of each image hold a tie.
    write_file(path("u.npy"), npy<std::uint8_t>(header("(2, 1, 2, 3)", "|u1"),
                                                {3, 1, 3, 0, 3, 2, 9, 1, 9, 0, 9, 2}));
    const std::string pool = "'max_pool2d n=2 in=2x3 kernel=2 type=u8 layout=nchw indices=";
    const auto expect_indices = [&](const std::string &indices,
                                    const std::vector<std::int64_t> &expected) {
        expect_writes(pool + indices + "' -i u.npy --indices indices.npy",
                      npy<std::uint8_t>(header("(2, 1, 1, 2)", "|u1"), {3, 3, 9, 9}));
        EXPECT_TRUE(read_file(path("indices.npy")) == npy(header("(2, 1, 1, 2)", "<i8"), expected))
            << indices;
    };
    expect_indices("plane", {0, 2, 0, 2});
    expect_indices("tensor", {0, 2, 6, 8});
    expect_indices("tensor order=column", {0, 4, 6, 10});
}

TEST_F(Apply, computes_every_other_operator) {
    write_file(path("row.npy"), npy(header("(1, 4, 1)"), {3, 4, -5, 12}));
    write_file(path("five.npy"), npy(header("(1, 5, 1)"), {1, 2, 3, 4, 5}));
    expect_writes("'lp_pool1d in=4 kernel=2 stride=2' -i row.npy",
                  npy(header("(1, 2, 1)"), {5, 13}));
    expect_writes("'lp_pool1d in=4 kernel=2 stride=2 p=1' -i row.npy",
                  npy(header("(1, 2, 1)"), {7, 17}));
    expect_writes("'avg_pool1d in=5 adaptive=3' -i five.npy",
                  npy(header("(1, 3, 1)"), {1.5, 3, 4.5}));
    expect_writes("'stride_sample2d in=3x4 stride=2x3 phase=1,0' -i x.npy",
                  npy(header("(1, 1, 2, 1)"), {5, 8}));
    expect_writes("'pad1d in=5 pads=2,1 border=reflect' -i five.npy",
                  npy(header("(1, 8, 1)"), {3, 2, 1, 2, 3, 4, 5, 4}));
    write_file(path("d.npy"), npy(header("(2, 1, 1, 2)"), {1, 10, 1, 100}));
    expect_writes("'depthwise2d k=2 in=3x4 kernel=1x2 pads=0,0,-2,1 border=circular' -i x.npy "
                  "-w d.npy",
                  npy(header("(1, 1, 4, 2)"), {21, 201, 32, 302, 43, 403, 14, 104}));
}

TEST_F(Apply, empty_results_are_results) {
    expect_writes("'max_pool2d in=3x4 kernel=4x2' -i x.npy", npy(header("(1, 0, 3, 1)"), {}));
    write_file(path("none.npy"), npy(header("(0, 3, 4, 1)"), {}));
    expect_writes("'max_pool2d n=0 in=3x4 kernel=2' -i none.npy", npy(header("(0, 2, 3, 1)"), {}));
}

TEST_F(Apply, verbose_tells_the_kernel_and_the_declined) {
    const Outcome outcome =
        run("apply " + std::string(conv) + " -i x.npy -w w.npy -o y.npy --schedule reference -v");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "");
    std::istringstream lines(outcome.err);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "problem  conv2d n=1 c=1 k=1 g=1 in=3x4 kernel=2x3 stride=1x1 dilation=1x1 "
                    "pads=1,2,0,3 phase=0,0 border=constant value=0 type=f32 layout=nhwc bias=0 "
                    "act=none");
    std::getline(lines, line);
    EXPECT_EQ(line, "kernel   conv/reference/sse41");
    std::getline(lines, line);
    EXPECT_EQ(line, "schedule reference isa=sse41");
    std::getline(lines, line);
    EXPECT_EQ(line, "part     conv/reference/sse41 size 3x7 at 0,0");
    while (std::getline(lines, line)) {
        EXPECT_EQ(line.substr(0, 9), "declined ");
        EXPECT_NE(line.find(": "), line.npos);
    }
}

TEST_F(Apply, verbose_tells_the_parts_of_a_transposed_convolution) {
    write_file(path("w.npy"), npy(header("(1, 1, 2, 2)"), {1, 2, 3, 4}));
    const Outcome outcome = run("apply 'conv_transpose2d in=3x4 kernel=2 stride=1x2' -i x.npy "
                                "-w w.npy -o y.npy --schedule reference -v");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("\npart     conv/reference/sse41 size 4x4 at 0,0 of every 1x2\n"
                               "part     conv/reference/sse41 size 4x4 at 0,1 of every 1x2\n"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Apply, reads_what_other_writers_write) {
    // Version 2.0, other order of keys, no trailing commas.
    const std::string text = "{'shape':(1,3,4,1),'fortran_order':False,'descr':'<f4'}";
    std::string bytes = "\x93NUMPY\x02";
    bytes += std::string(1, '\0') + char(text.size()) + std::string(3, '\0') + text;
    const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    bytes.append(reinterpret_cast<const char *>(x.data()), 4 * x.size());
    write_file(path("x2.npy"), bytes);
    expect_writes("'max_pool2d in=3x4 kernel=3x4' -i x2.npy", npy(header("(1, 1, 1, 1)"), {12}));
}

TEST_F(Apply, refuses_broken_files_and_keeps_the_output) {
    const std::string pool = "'max_pool2d in=3x4 kernel=2' -i ";
    const std::vector<float> x(12, 1);
    expect_kept(pool + "missing.npy", "missing.npy: cannot be read: No such file or directory");
    const auto expect_broken = [&](const std::string &bytes, const std::string &reason) {
        write_file(path("bad.npy"), bytes);
        expect_kept(pool + "bad.npy", "bad.npy: " + reason);
    };
    const std::string good = npy(header("(1, 3, 4, 1)"), x);
    for (std::size_t length : {0, 5, 9, 20, 127})
        expect_broken(good.substr(0, length), "the file ends in its header");
    expect_broken(good.substr(0, good.size() - 1),
                  "shape (1, 3, 4, 1) takes 48 bytes, the file holds 47");
    expect_broken(good + "x", "shape (1, 3, 4, 1) takes 48 bytes, the file holds 49");
    expect_broken("PK" + good, "is not a .npy file");
    expect_broken("\x93NUMPY\x03" + good.substr(7), "is of .npy version 3, not 1 or 2");
    expect_broken(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3, 4, 1), }", x),
                  "its elements are not float32 ('<f4')");
    expect_broken(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3, 4, 1), }", x),
                  "it is not in C order (fortran_order is not False)");
    expect_broken(npy("{'descr': '<f4', 'fortran_order': False}", x),
                  "its header lacks one of descr, fortran_order and shape");
    expect_broken(npy(header("(1, -3, 4, 1)"), x), "its shape is not a tuple of whole numbers");
    expect_broken(npy(header("(4294967296, 4294967296, 4)"), x),
                  "shape (4294967296, 4294967296, 4) is too large");
    expect_broken(npy(header("(1, 4, 3, 1)"), x),
                  "has the shape (1, 4, 3, 1), the problem asks for (1, 3, 4, 1)");
    expect_kept(pool + ".", ".: is not a file");
    expect_kept("'max_pool2d in=3x4 kernel=2 type=u8' -i x.npy",
                "x.npy: its elements are not uint8 ('|u1')");
    expect_kept("'max_pool2d in=3x4 kernel=2 layout=nchw' -i x.npy",
                "x.npy: has the shape (1, 3, 4, 1), the problem asks for (1, 1, 3, 4)");
}

TEST_F(Apply, refuses_what_does_not_fit_the_problem) {
    expect_kept(std::string(conv) + " -i x.npy", "conv2d needs weights, -w");
    expect_kept("'max_pool2d in=3x4 kernel=2' -i x.npy -w w.npy",
                "max_pool2d takes no weights, -w");
    expect_kept(std::string(conv) + " -i x.npy -w w.npy -b b.npy",
                "the problem has no bias=1: -b is not used");
    expect_kept("'conv2d in=3x4 kernel=2x3 bias=1' -i x.npy -w w.npy",
                "the problem has bias=1: -b is needed");
    expect_kept("'conv2d in=3x4 kernel=3x2' -i x.npy -w w.npy",
                "w.npy: has the shape (1, 1, 2, 3), the problem asks for (1, 1, 3, 2)");
    expect_kept("'conv2d in=3x4 kernel=0' -i x.npy -w w.npy", "rows: kernel 0 is less than 1");
    expect_kept("'conv2d in=3x4 kernel=2 border=mirror' -i x.npy -w w.npy",
                "border=mirror: must be constant, reflect, symmetric, replicate or circular, or "
                "one of these for each axis");
    expect_kept("'max_pool2d in=3x4 kernel=2 indices=plane' -i x.npy",
                "the problem has indices: --indices is needed");
    expect_kept("'max_pool2d in=3x4 kernel=2' -i x.npy --indices indices.npy",
                "the problem has no indices: --indices is not used");
    const Outcome nonsense =
        run("apply " + std::string(conv) + " -i x.npy -w w.npy -o y.npy --schedule nonsense");
    EXPECT_EQ(nonsense.code, 2);
    EXPECT_NE(nonsense.err.find("nonsense"), std::string::npos) << nonsense.err;
    EXPECT_EQ(std::count(nonsense.err.begin(), nonsense.err.end(), '\n'), 1) << nonsense.err;
}

TEST_F(Apply, refuses_an_output_that_cannot_be_created) {
    expect_refused("apply 'max_pool2d in=3x4 kernel=2' -i x.npy -o missing/y.npy",
                   "missing/y.npy: cannot be written: No such file or directory");
}

TEST_F(Apply, replaces_files_but_not_links_and_pipes) {
    const std::string problem = "apply 'max_pool2d in=3x4 kernel=3x4' -i x.npy ";
    const std::string twelve = npy(header("(1, 1, 1, 1)"), {12});
    write_file(path("real.npy"), "old");
    fs::create_symlink("real.npy", path("link.npy"));
    EXPECT_EQ(run(problem + "-o link.npy").code, 0);
    EXPECT_TRUE(fs::is_symlink(path("link.npy")));
    EXPECT_EQ(read_file(path("real.npy")), twelve);

    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    const int pipe = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    EXPECT_EQ(run(problem + "-o pipe").code, 0);
    char bytes[1000];
    const auto count = ::read(pipe, bytes, sizeof bytes);
    close(pipe);
    EXPECT_EQ(count, ssize_t(twelve.size()));
    EXPECT_EQ(std::string(bytes, count > 0 ? count : 0), twelve);
}

} // namespace
