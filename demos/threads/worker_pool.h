#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

/// Threads that wait for tasks: about the least that a pool can be. It stands for the one that your
/// program has; selvage/thread_pool.h has one for programs without.
class WorkerPool {
public:
    explicit WorkerPool(int workers) {
        for (int i = 0; i < workers; ++i)
            workers_.emplace_back([this] { serve(); });
    }

    ~WorkerPool() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (std::thread &each : workers_)
            each.join();
    }

    /// Has task(data, i) called once for each i below `count` and waits for all of them. For one
    /// thread at a time.
    void run(void (*task)(void *data, int index), void *data, int count) {
        std::unique_lock lock(mutex_);
        task_ = task;
        data_ = data;
        next_ = 0;
        count_ = unfinished_ = count;
        wake_.notify_all();
        done_.wait(lock, [&] { return unfinished_ == 0; });
    }

private:
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return stop_ || next_ < count_; });
            if (stop_)
                return;
            const int index = next_++;
            lock.unlock();
            task_(data_, index);
            lock.lock();
            if (--unfinished_ == 0)
                done_.notify_one();
        }
    }

    std::mutex mutex_; ///< of everything below but the threads
    std::condition_variable wake_, done_;
    void (*task_)(void *data, int index) = nullptr;
    void *data_ = nullptr;
    int next_ = 0, count_ = 0, unfinished_ = 0;
    bool stop_ = false;
    std::vector<std::thread> workers_; ///< last, as they use all the others
};
