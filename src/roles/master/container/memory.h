// Processes of instances that were killed for want of memory while their programs went on.
#pragma once

#include <string>

#include "roles/master/state/desk.h"

namespace hostler::master {

// One event an instance and minute at most, with all that were killed since the last one.
inline constexpr std::int64_t memory_kill_rest_us = std::int64_t{60} * 1'000'000;

// Makes an event of what the instance's host has told of them.
void note_memory_kills(Desk& desk, const std::string& id);

// Whether more was told than was made events of.
bool has_untold_kills(const Desk& desk, const Instance& instance);

// For explain: how many in its last run, and which was the last; empty: none.
std::string memory_kills_sentence(const Instance& instance);
std::string memory_kills_help(const Instance& instance);

}  // namespace hostler::master
