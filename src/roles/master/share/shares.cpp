#include "roles/master/share/shares.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/policy/check.h"

namespace hostler::master {

std::string route_name(const Instance& instance, int port) { return fmt::format("{}-{}", port, instance.id); }

bool is_open(const Desk& desk, const Share& share) {
    const Instance* instance = desk.estate.instances.find(share.instance);
    return instance && !is_final(instance->phase) && instance->phase != InstancePhase::stopping &&
           share.expires_at > desk.estate.micros();
}

bool are_allowed(const Desk& desk, const std::string& tenant) {
    const std::string cloud{Policy::cloud_id}, own = Policy::id_of(tenant);
    const auto& damaged = desk.estate.unreadable();
    const std::string kind{Kind<Policy>::name};
    return allows_share_links(
        {.cloud = desk.estate.policies.find(cloud),
         .tenant = desk.estate.policies.find(own),
         .unreadable = damaged.contains({kind, cloud}) || damaged.contains({kind, own})});
}

std::vector<std::string> shares_under(const Desk& desk, const std::string& policy) {
    std::vector<std::string> ids;
    for (const auto& [id, share] : desk.estate.shares.all())
        if (policy == Policy::cloud_id || policy == Policy::id_of(share.tenant)) ids.push_back(id);
    return ids;
}

Result<const Share*> make_share(Desk& desk, const Instance& instance, int port, std::chrono::seconds life,
                                const std::string& secret_hash, const std::string& by) {
    if (is_final(instance.phase) || instance.phase == InstancePhase::stopping)
        return fail(Code::conflict,
                    fmt::format("instance {} is {}: there is nothing to share", instance.caller_id,
                                text_of(instance.phase)),
                    "not_running");
    if (std::ranges::find(instance.spec.ports, port, &InstancePort::port) == instance.spec.ports.end()) {
        Error error{Code::not_found, fmt::format("instance {} has no port {}", instance.caller_id, port),
                    "port_not_declared"};
        error.help = "Name one of its ports, as `hostler instance get` lists them under urls.";
        return std::unexpected(std::move(error));
    }
    const std::size_t count = desk.estate.shares.by().instance.count(instance.id);
    if (count >= shares_instance_max)
        return fail(Code::exhausted,
                    fmt::format("instance {} has {} share links, which is the limit; revoke some",
                                instance.caller_id, count),
                    "too_many_shares");
    const std::int64_t now = desk.estate.micros();
    const Share& share =
        desk.estate.shares.add({.id = new_id(desk.random, "sh"),
                                .tenant = instance.tenant,
                                .project = instance.project,
                                .instance = instance.id,
                                .port = port,
                                .route = route_name(instance, port),
                                .hash = secret_hash,
                                .made_by = by,
                                .created_at = now,
                                .expires_at = now + std::chrono::microseconds{life}.count()});
    desk.estate.event("instance", instance.id, instance.tenant, "shared",
                      fmt::format("{} made share link {} to port {}.", by, share.id, port));
    return &share;
}

void revoke_share(Desk& desk, const std::string& id) {
    const Share& share = desk.estate.shares.at(id);
    desk.estate.event("instance", share.instance, share.tenant, "unshared",
                      fmt::format("Share link {} to port {} was revoked.", id, share.port));
    desk.estate.shares.erase(id);
}

namespace {

struct ShareLooks {
    static constexpr bool follows_estate = true;
    Follower<Share> shares;
    Follower<Instance> instances;
};

}  // namespace

// Shares that have expired, and shares of instances that no longer have what was shared.
static std::vector<const Share*> closed_shares(Desk& desk) {
    const auto& by = desk.estate.shares.by();
    std::map<std::string, const Share*> closed;
    const auto look_at = [&](const Share* share) {
        if (share && !is_open(desk, *share)) closed.emplace(share->id, share);
    };
    auto& looks = desk.live.part<ShareLooks>();
    for (const std::string& id : looks.shares.changed(desk.estate.shares))
        look_at(desk.estate.shares.find(id));
    for (const std::string& id : looks.instances.changed(desk.estate.instances))
        for (const Share* share : by.instance.of(id)) look_at(share);
    for (const Share* share : by.expires_at.up_to(desk.estate.micros())) look_at(share);
    std::vector<const Share*> all;
    for (const auto& [id, share] : closed) all.push_back(share);
    return all;
}

void close_shares(Desk& desk) {
    std::vector<std::string> ids;
    for (const Share* share : closed_shares(desk)) ids.push_back(share->id);
    for (const std::string& id : ids) desk.estate.shares.erase(id);
}

}  // namespace hostler::master
