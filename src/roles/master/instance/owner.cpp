#include "roles/master/instance/owner.h"

#include <fmt/format.h>

#include "api/operations_instance.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

std::string text_of(const Owner& owner) { return fmt::format("{} {}", owner.kind, owner.id); }

Result<> check_owner(const Instance& instance, const api::Operation& operation) {
    const bool uses = !operation.writes() || operation.name == api::ops::keep_instance_alive.name;
    if (uses || !instance.owner || instance.deleted) return {};
    return refuse(fmt::format("instance {} belongs to {}", instance.caller_id, text_of(*instance.owner)),
                  "owned", fmt::format("Change or delete the {} instead.", instance.owner->kind));
}

void delete_owned(Desk& desk, const Owner& owner) {
    for (const Instance* instance : desk.estate.instances.by().owner.of({"", owner.path()}))
        if (!instance->deleted)
            delete_instance(desk, std::string{instance->id}, fmt::format("{} was deleted", text_of(owner)));
}

}  // namespace hostler::master
