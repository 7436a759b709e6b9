// The program `selvage`, run as a user would: what it prints, what it writes, how it refuses.

#include <algorithm>
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
std::string npy(const std::string &header, const std::vector<float> &numbers) {
    std::string padded = header;
    padded.resize(128 - 10 - 1, ' ');
    std::string bytes = "\x93NUMPY\x01";
    bytes += std::string("\0\x76\0", 3) + padded + "\n";
    return bytes.append(reinterpret_cast<const char *>(numbers.data()), 4 * numbers.size());
}

std::string header(const std::string &shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
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
    expect_refused("", "A subcommand is required");
}

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
    EXPECT_EQ(line.substr(0, 26), "kernel   conv2d/reference/");
    while (std::getline(lines, line)) {
        EXPECT_EQ(line.substr(0, 9), "declined ");
        EXPECT_NE(line.find(": "), line.npos);
    }
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
                  "its elements are not float32, little endian ('<f4')");
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
    expect_kept("'conv2d in=3x4 kernel=2 border=reflect' -i x.npy -w w.npy",
                "border=reflect: must be constant");
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
