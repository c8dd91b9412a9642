// How a cluster is, as its own API says: asked by the step `probe` of its driver, on a host of its control
// plane. Where the driver has none, a ready control node counts whose host answers.
#pragma once

#include "domain/cluster/driver.h"
#include "roles/master/command/commands.h"

namespace hostler::master {

// Of phase settle and place control. Its output `nodes` is "NAME:member,healthy …", a word for each node,
// with either part left out where it is not true.
inline constexpr std::string_view probe_step = "probe";
inline constexpr const char* probe_output = "nodes";
inline constexpr std::int64_t probe_every_us = 15'000'000;

// nullptr: the driver has none.
const DriverStep* probe_of(const Driver& driver);

// Asks, if it is time and a host may be asked.
void probe(Desk& desk, const std::string& cluster, const Driver& driver);
// At the next look: a step may have changed what it says.
void probe_soon(Desk& desk, const std::string& cluster);
// When it is asked next; 0: it cannot be.
std::int64_t next_probe(const Desk& desk, const std::string& cluster, const Driver& driver);
// `asked_at`: what has become of a node since is not in the answer.
void note_probe(Desk& desk, const std::string& cluster, const CommandAnswer& answer,
                std::int64_t asked_at = 0);

// What is seen without a probe.
void note_hosts(Desk& desk, const std::string& cluster, const Driver& driver);

}  // namespace hostler::master
