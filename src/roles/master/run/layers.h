// What instances write beside their volumes, while no container of them runs: kept on the host where the last
// one ran, until the instance is deleted or begins elsewhere.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Of what it wrote beside its volumes, for its next start on the same host.
enum class LayerWish { keep, discard };

// Whether its host is one that keeps what it writes.
bool may_keep_layer(const Desk& desk, const Instance& instance);
// What it wrote outlives the container that it has or had in its place.
bool keeps_its_layer(const Instance& instance);
// From here on; what its host cannot keep is not kept.
void keep_layer(const Desk& desk, Instance& instance);

// It has another place by now: what was kept elsewhere is left behind, and its people are told.
void leave_layer(Desk& desk, Instance& instance);
// Its host was removed, or lost what it kept.
void lose_layers(Desk& desk, const std::string& host);

// Has the host lose what it keeps of instances that were deleted, discarded it or are elsewhere. What came
// about after the backup that the store was restored from is left alone.
void reconcile_layers(Desk& desk, const std::string& host);

// How many empty layers a host is to have made ahead: one for each idle slot, up to the limit.
std::size_t layers_ahead_on(const Desk& desk, const std::string& host);

// A sentence for people about one that rests; empty: nothing of it is kept.
std::string layer_sentence(const Desk& desk, const Instance& instance);

}  // namespace hostler::master
