// An instance on its way along its life, and its runs: where one is over and another begins.
#pragma once

#include "roles/master/run/layers.h"

namespace hostler::master {

// Its run is over, if one has begun: when and why is kept, for the newest InstanceRun::kept_max.
void keep_run(Desk& desk, Instance& instance, const std::string& reason);

// Moves it along its life, if `event` leads anywhere; keeps reason and message.
void note(Desk& desk, const std::string& id, InstanceEvent event, std::string reason, std::string message);

// Whether a container that exited with this code did what it was for: none that was to answer a probe first.
bool ended_well(const Instance& instance, int exit_code);
void note_completed(Desk& desk, const std::string& id);

// What its container was stands in its runs: the next one is another run. `reason`: why that one was over.
void begin_run(Desk& desk, Instance& instance, const std::string& reason);

// Its container is to go, and then its place.
void end_run(Desk& desk, const std::string& id, const std::string& reason, const std::string& message,
             LayerWish layer);

// The instance restarts on its host, which has stopped it because no master answered.
void begin_anew(Desk& desk, const std::string& id);

// The host uses the addresses of the subnet for something else: the instance gets another subnet and
// restarts. false: no subnet is free, or too many were tried.
bool move_to_another_subnet(Desk& desk, const std::string& id);
// The same where its address alone is taken: another one of its subnet.
bool move_to_another_address(Desk& desk, const std::string& id);
// What it wrote is not on its host any more: it begins with its image alone, and its people are told.
bool begin_without_layer(Desk& desk, const std::string& id);

}  // namespace hostler::master
