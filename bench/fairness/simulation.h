// Discrete events: jobs of a trace on a number of equal GPUs, under a policy that does not know how long they
// run.
#pragma once

#include "bench/fairness/trace.h"
#include "domain/order/slicing.h"

namespace hostler::bench {

struct World {
    int gpus = 32;
    std::int64_t round_us = 30'000'000;  // While jobs wait, the policy is asked at least so often.
    std::int64_t resume_us =
        30'000'000;  // Time for which a resumed job holds its GPUs and makes no progress.
};

struct OrderSettings {
    std::int64_t half_life_s = 3'600;
    Slicing slicing;
};

struct Run {
    std::vector<std::int64_t> jct_us;  // Of each job of the trace.
    int preemptions = 0;
};

Run run_order(const JobTrace&, const World&, const OrderSettings&);  // domain/order: Order, Round, victims.
Run run_fifo(const JobTrace&, const World&);  // First come, first served; no preemption.
Run run_las(const JobTrace&, const World&);   // Least attained service: each round the least GPU time first.

}  // namespace hostler::bench
