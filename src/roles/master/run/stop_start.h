// An instance that rests: stopped for now, it holds nothing on any host, and can be started again under its
// name and URLs, with its volumes.
#pragma once

#include "roles/master/run/layers.h"
#include "roles/master/run/places.h"

namespace hostler::master {

// The reason of an instance that is stopped to be moved by a consolidation.
inline constexpr std::string_view consolidated = "consolidated";

// Its container goes, then its place; `reason` and `message` say why until it is started again. What rests
// already is left alone, but for what it wrote if that is to be discarded. Errors: conflict (instance_ended).
Result<> halt_instance(Desk& desk, const std::string& id, const std::string& reason,
                       const std::string& message, LayerWish layer = LayerWish::keep);

// Finds it a place anew, where its volumes lie, else where what it wrote is kept if there is room. What has a
// place is left alone. Errors: conflict (instance_ended, instance_stopping, volume_unavailable,
// volume_in_use, insufficient_capacity, no_subnet), exhausted (quota_exceeded), forbidden (policy_denied).
Result<> wake_instance(Desk& desk, const std::string& id, WantedBy by = WantedBy::caller);

// The same for one that ended and holds nothing any more. Errors: as wake_instance(), no_gateway_port.
Result<> begin_once_more(Desk& desk, const std::string& id);

// The same in a place that is held for it; `slot`: of the stock, that comes along; empty: none does. false:
// it cannot be begun there, and the place was given back.
bool wake_at(Desk& desk, const std::string& id, const std::string& claim, const std::string& slot);

// A new container in the same place: host, GPUs, address, volumes and URLs stay. Errors: conflict
// (instance_ended, instance_stopping, not_running), unavailable (host_unreachable).
Result<> restart_instance(Desk& desk, const std::string& id);

}  // namespace hostler::master
