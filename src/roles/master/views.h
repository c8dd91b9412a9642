// What the API shows of the estate.
#pragma once

#include "api/operations.h"
#include "roles/master/desk.h"

namespace hostler::master {

WallTime wall(std::int64_t micros);
std::optional<WallTime> wall_if(std::int64_t micros);  // nullopt for 0.

api::Instance view(const Desk& desk, const Instance& instance);
api::Host view(const Desk& desk, const Host& host);
api::Gpu view(const Desk& desk, const Host& host, const GpuFacts& gpu);
api::Zone view(const Desk& desk, const Zone& zone);
api::AccessPoint view(const Desk& desk, const AccessPoint& access);
api::HostToken view(const HostToken& token);
api::Spec view(const Spec& spec);
api::Stock view_stock(const Desk& desk, const Spec& spec);
api::Volume view(const Desk& desk, const Volume& volume);
api::Network view(const Desk& desk, const Network& network);
api::LongOperation view(const LongOperation& operation);
api::ApiKey view(const ApiKey& key);
api::Event view(const EventRecord& event);

api::ForeignWorkload view_foreign(const Desk& desk, const Claim& claim);

}  // namespace hostler::master
