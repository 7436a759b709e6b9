#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "selvage/parallel.h"

namespace selvage {

/// A few threads that stay alive between runs, for programs that have no pool of their own:
///
///     ThreadPool pool(2); // for plans made with Options::threads = 2 or more
///     layer.run(x, y, nullptr, &pool.parallel());
///
/// Any thread may run tasks on it. A run from within a task, or while another thread's run has the
/// pool, does all of its tasks on the thread that asks for it: slower, but it never waits.
class ThreadPool {
public:
    /// A pool of `threads` threads, among them the one that calls run(), so that less than 2 start
    /// none, and no more than most_threads. Where the system has no more to give, there are fewer;
    /// threads() tells.
    explicit ThreadPool(int threads) {
        threads = std::min(threads, most_threads);
        try {
            workers_.reserve(threads > 1 ? std::size_t(threads - 1) : 0);
            for (int i = 1; i < threads; ++i)
                workers_.emplace_back([this] { serve(); });
        } catch (const std::exception &) {
            // The tasks are done all the same.
        }
    }

    /// Ends the threads. No run may be under way.
    ~ThreadPool() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            ++job_;
        }
        wake_.notify_all();
        for (std::thread &each : workers_)
            each.join();
    }
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    /// How many threads run tasks, the one that calls run() included.
    int threads() const { return int(workers_.size()) + 1; }

    /// The pool as a hook; it lives as long as the pool does.
    const Parallel &parallel() const { return parallel_; }

    /// What Parallel::run says. Allocates nothing.
    void run(void (*task)(void *data, int index), void *data, int count) noexcept {
        if (count < 2 || workers_.empty() || busy_.exchange(true)) {
            for (int index = 0; index < count; ++index)
                task(data, index);
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            task_ = task;
            data_ = data;
            count_ = count;
            next_ = 0;
            open_ = true;
            ++job_;
        }
        wake_.notify_all();
        work();
        {
            // Workers that wake up too late find nothing left, and are not waited for.
            const std::lock_guard lock(mutex_);
            open_ = false;
        }
        spin([&] { return inside_ == 0; });
        {
            std::unique_lock lock(mutex_);
            idle_.wait(lock, [&] { return inside_ == 0; });
        }
        busy_ = false;
    }

private:
    /// Does tasks until none is left.
    void work() {
        for (std::int64_t index; (index = next_++) < count_;)
            task_(data_, int(index));
    }

    /// What workers do all their life.
    void serve() {
        for (std::uint64_t seen = 0;;) {
            spin([&] { return job_ != seen; });
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return job_ != seen; });
            seen = job_;
            if (stop_)
                return;
            if (!open_)
                continue;
            ++inside_;
            lock.unlock();
            work();
            lock.lock();
            if (--inside_ == 0 && !open_)
                idle_.notify_one();
        }
    }

    /// Waits a little without sleeping: to be woken takes 5 to 50 us, as long as many a layer, and
    /// the layers of a network follow each other at once. Who yields leaves a busy CPU to others.
    template <class Ready> static void spin(Ready ready) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
        while (!ready() && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
    }

    std::atomic<bool> busy_{false};
    // The job, which is written under the mutex and while no worker is inside.
    void (*task_)(void *data, int index) = nullptr;
    void *data_ = nullptr;
    std::int64_t count_ = 0;
    std::atomic<std::int64_t> next_{0};

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::atomic<std::uint64_t> job_{0}; ///< counts jobs
    std::atomic<int> inside_{0};        ///< workers that may call tasks of the job
    bool open_ = false, stop_ = false;

    const Parallel parallel_ = {
        [](void *pool, void (*task)(void *data, int index), void *data, int count) {
            static_cast<ThreadPool *>(pool)->run(task, data, count);
        },
        this};
    std::vector<std::thread> workers_; // last: they use all the others
};

} // namespace selvage
