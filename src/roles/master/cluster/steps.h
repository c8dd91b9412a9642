// Steps of a driver as commands to hosts: what they are told, and how they ended.
#pragma once

#include "roles/master/cluster/nodes.h"
#include "roles/master/command/commands.h"

namespace hostler::master {

inline constexpr std::int64_t step_pause_us = 10'000'000;       // Before the second try; then twice as long,
inline constexpr std::int64_t step_pause_max_us = 300'000'000;  // up to this pause.
inline constexpr std::size_t problem_bytes_max = 512;
inline constexpr int clean_checks_max = 3;  // Of one cleaning, that failed.

// The step's command is under way when it returns, or its try has failed.
void start_step(Desk& desk, const std::string& node, const DriverStep& step);
// The node's own host asks the cluster how it is.
void start_probe(Desk& desk, const std::string& node, const DriverStep& step);
// The host is asked what is left of the node.
void start_check(Desk& desk, const std::string& node);
// The plan goes on without the step.
void skip_step(Desk& desk, const std::string& node);
// No answer to its command can come any more. It did not fail.
void abandon(Desk& desk, const std::string& node, const std::string& why);

// The steps that a node does now, those after its arrival included.
std::vector<const DriverStep*> steps_due(const Driver& driver, const ClusterNode& node);
// It failed as often as it is tried.
bool is_exhausted(const Driver& driver, const ClusterNode& node);

void step_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void check_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void step_expired(Desk& desk, const std::string& node);
void check_expired(Desk& desk, const std::string& node);

// What the host is told: the values that the texts of the step ask for. Errors: not_found (the row, its
// cluster, driver or step is not there), invalid (a value is missing).
struct StepTold {
    std::string cluster, driver, digest, name;
    StepValues values;
    bool again = false;
};
Result<StepTold> told_of(const Desk& desk, const ClusterNode& node);

// Those of `all` that the texts of the step ask for, but what agents know themselves. Errors: invalid
// (value_missing).
Result<StepValues> values_for(const DriverStep& step, const StepValues& all);
std::string digest_of(const Desk& desk, const Driver& driver);
// Before the next try, after so many that failed.
std::int64_t pause_after(std::int64_t attempt);
std::string brief_problem(std::string message);

}  // namespace hostler::master
