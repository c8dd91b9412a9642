#include "roles/master/state/consistency.h"
#include "roles/master/state/host_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/state/estate.h"

namespace hostler::master {

namespace {

bool has_left(const Instance& instance, const std::string& claim) {
    return std::ranges::count(instance.left, claim, &LeftPlace::claim) > 0;
}

struct Look {
    const Estate& estate;
    std::vector<Contradiction>& found;

    void say(std::string_view kind, const std::string& id, std::string message) {
        found.push_back({fmt::format("{}/{}", kind, id), std::move(message)});
    }

    void claims() {
        std::map<std::string, std::string> held;  // Claim by GPU.
        for (const auto& [id, claim] : estate.claims.all()) {
            if (!estate.hosts.find(claim.host))
                say("claim", id, fmt::format("it is on host {}, which does not exist", claim.host));
            for (const std::string& gpu : claim.gpus)
                if (const auto [at, free] = held.emplace(claim.host + "/" + gpu, id); !free)
                    say("claim", id, fmt::format("it holds GPU {}, as {} does", gpu, at->second));
            const Slot* slot = estate.slots.find(claim.holder);
            const Instance* instance = estate.instances.find(claim.holder);
            const ClusterNode* node = estate.cluster_nodes.find(claim.holder);
            const bool known = claim.use == ClaimUse::foreign ||
                               (claim.use == ClaimUse::node && node && node->claim == id) ||
                               (claim.use == ClaimUse::stock ? slot && slot->claim == id
                                : claim.use == ClaimUse::reserved
                                    ? step_of_claim(estate, id) != nullptr
                                    : instance && (instance->claim == id || has_left(*instance, id)));
            if (!known)
                say("claim", id,
                    fmt::format("it is held as {} by '{}', which does not say so", text_of(claim.use),
                                claim.holder));
        }
    }

    void instances() {
        for (const auto& [id, instance] : estate.instances.all()) {
            if (has_place(instance.phase) && instance.claim.empty())
                say("instance", id, fmt::format("it is {} and holds no claim", text_of(instance.phase)));
            if (!instance.claim.empty() && !estate.claims.find(instance.claim))
                say("instance", id, fmt::format("its claim {} does not exist", instance.claim));
            if (!instance.subnet.empty() && !estate.subnets.find(instance.subnet))
                say("instance", id, fmt::format("its subnet {} does not exist", instance.subnet));
            for (const InstanceVolume& mount : instance.spec.volumes)
                if (!is_final(instance.phase) && !estate.volumes.find(mount.volume))
                    say("instance", id, fmt::format("its volume {} does not exist", mount.volume));
        }
    }

    void others() {
        for (const auto& [id, slot] : estate.slots.all()) {
            if (!estate.specs.find(slot.spec))
                say("slot", id, fmt::format("its spec {} does not exist", slot.spec));
            if (slot.phase != SlotPhase::pending && !estate.claims.find(slot.claim))
                say("slot", id,
                    fmt::format("it is {} and its claim '{}' does not exist", text_of(slot.phase),
                                slot.claim));
        }
        for (const auto& [id, node] : estate.cluster_nodes.all())
            if (!node.claim.empty() && !estate.claims.find(node.claim))
                say("cluster_node", id, fmt::format("its claim {} does not exist", node.claim));
        for (const auto& [id, subnet] : estate.subnets.all())
            if (!estate.networks.find(subnet.network))
                say("subnet", id, fmt::format("its network {} does not exist", subnet.network));
    }
};

}  // namespace

std::optional<Contradiction> unreadable_body(const Object& object) {
    const std::string subject = fmt::format("{}/{}", object.kind, object.id);
    Object body = object;
    body.live = true;  // One that has ended is read like any other.
    Estate estate;
    const auto read = estate.load({std::move(body)});
    if (!read) return Contradiction{subject, read.error().message};
    if (estate.unreadable().empty()) return std::nullopt;
    return Contradiction{subject, estate.unreadable().begin()->second};
}

std::vector<Contradiction> contradictions(const std::vector<Object>& live) {
    std::vector<Contradiction> found;
    Estate estate;
    for (const Object& object : live)
        if (const auto read = estate.load({object}); !read)
            found.push_back({fmt::format("{}/{}", object.kind, object.id), read.error().message});
    for (const auto& [row, why] : estate.unreadable())
        found.push_back({fmt::format("{}/{}", row.first, row.second), why});
    Look look{estate, found};
    look.claims();
    look.instances();
    look.others();
    return found;
}

}  // namespace hostler::master
