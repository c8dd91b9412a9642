#include "domain/alert/receiver.h"

#include <fmt/format.h>

namespace hostler::alert {

std::string receiver_id(const std::string& tenant, const std::string& name) { return rule_id(tenant, name); }

bool is_for(const Receiver& receiver, const Alert& alert) {
    const bool concerns = receiver.tenant.empty() ? !alert.own : receiver.tenant == alert.tenant;
    return concerns && alert.severity >= receiver.least && matches(receiver.where, alert.labels);
}

std::string group_of(const Receiver& receiver, const Alert& alert) {
    std::string group;
    for (const std::string& label : receiver.group_by) {
        const auto at = alert.labels.find(label);
        if (at == alert.labels.end() || at->second.empty()) continue;
        group += fmt::format("{}{}={}", group.empty() ? "" : " ", label, at->second);
    }
    return group.empty() ? "all alerts" : group;
}

}  // namespace hostler::alert
