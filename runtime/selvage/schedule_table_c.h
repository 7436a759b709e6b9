#pragma once

/** @file
 * What a schedule table holds. C99 and C++, for both interfaces. */

#include <stddef.h>

/** What was the fastest for a layer on a class of machines; an entry of a table. */
typedef struct selvage_tuned_schedule {
    /** A problem text. Of its fields, `n`, `bias` and `act` make no difference. */
    const char *problem;
    /** The best instruction set of the machine, or the one that is asked for. Kernels of the entry
     * are of this set, too, unless its schedule has isa=. */
    const char *isa;
    int threads;          /**< of a run */
    const char *accuracy; /**< "exact" or "fast" */
    const char *schedule; /**< a schedule text, see selvage/schedule.h */
} selvage_tuned_schedule;

/** Entries, of which the first one for a problem counts. The caller owns the memory, which is only
 * read, and only while a plan is made. */
typedef struct selvage_schedule_table {
    const selvage_tuned_schedule *entries; /**< may be null where there are none */
    size_t count;                          /**< how many there are */
} selvage_schedule_table;
