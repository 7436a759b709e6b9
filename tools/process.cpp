#include "process.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace {

/// Both ends of a pipe, closed at the latest with this.
struct Pipe {
    int ends[2] = {-1, -1};

    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe &) = delete;

    void close_end(int end) {
        if (ends[end] >= 0)
            close(ends[end]);
        ends[end] = -1;
    }
};

std::string read_all(int file) {
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t count = read(file, buffer, sizeof buffer);
        if (count > 0)
            text.append(buffer, std::size_t(count));
        else if (count == 0 || errno != EINTR)
            return text;
    }
}

} // namespace

std::string run_program(const std::string &program, const std::vector<std::string> &arguments) {
    Pipe output;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, output.ends[1], 2);
    std::vector<char *> words = {const_cast<char *>(program.c_str())};
    for (const std::string &each : arguments)
        words.push_back(const_cast<char *>(each.c_str()));
    words.push_back(nullptr);
    pid_t child = 0;
    const int error =
        posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::runtime_error(program + " cannot be run: " + std::strerror(error));
    output.close_end(1);
    const std::string text = read_all(output.ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        throw std::runtime_error(program + " was ended by signal " +
                                 std::to_string(WTERMSIG(status)) + ": " + text);
    if (WEXITSTATUS(status) != 0)
        throw std::runtime_error(program + " returned " + std::to_string(WEXITSTATUS(status)) +
                                 ": " + text);
    return text;
}
