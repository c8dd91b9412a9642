// Time slices, for jobs of unknown run time: a job that has run for a slice is preempted by one that has had
// a smaller part of its time.
#pragma once

#include <cstdint>

#include "core/result.h"

namespace hostler {

// Each job is promised a part of the time since it was submitted. While jobs wait that have had less, a
// preemptible job that has had more yields after a slice; `candidates` (victims.h) says which. Finish-time
// fairness is that part: a job that is served 1/n of the time takes n times as long as alone.
struct Slicing {
    std::int64_t slice_s = 750;  // In [1, 10^7]. A job runs for this long before it yields.
    double promise = 0.29;       // In [0, 1].
    std::int64_t grace_s = 250;  // In [0, 10^7]. Every job counts as served for this long at its submission,
                                 // so a new one does not preempt at once.
    bool operator==(const Slicing&) const = default;
};

// invalid: names every wrong field.
Result<> check(const Slicing&);

// The part of the time since submission, with grace, for which the job ran. Times in microseconds.
double served(const Slicing&, std::int64_t submitted, std::int64_t ran, std::int64_t now);

}  // namespace hostler
