#pragma once

/** @file
 * Who runs the shares of a plan: the caller's threads. C99 and C++. */

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A hook through which the library hands work to threads of the caller, for example those of a pool
 * that other parts of the program use too. The library itself starts none.
 *
 * `run` calls task(data, i) exactly once for each i in 0..count-1, from any threads, its caller's
 * among them, at the same time or one after the other and in any order. It returns when all of
 * these calls have, and what they wrote is visible to its caller then (joining, a mutex or an
 * atomic of the hook sees to it). Tasks neither throw nor wait for each other, so that any number
 * of threads will do. Where a hook is shared by threads that run plans at the same time, `run` must
 * be safe to call from each.
 *
 * `context` is passed to `run` and is of no interest to the library, which copies nothing and keeps
 * nothing after a call.
 */
typedef struct selvage_parallel {
    /** Runs the tasks. */
    void (*run)(void *context, void (*task)(void *data, int index), void *data, int count);
    void *context; /**< what `run` is passed */
} selvage_parallel;

#ifdef __cplusplus
}

namespace selvage {
/// The name in C++.
using Parallel = ::selvage_parallel;

/// The highest Options::threads; no pool needs more threads.
constexpr int most_threads = 1024;
} // namespace selvage
#endif
