// Buttons of the sign-in page.
#include "roles/master/browser/sign_in_page.h"
#include "roles/master/browser/steps.h"
#include "roles/master/oidc/flow.h"

namespace hostler::master {

namespace {

// Whose instance a target opens; empty: it opens none.
std::string tenant_of_target(const Desk& desk, std::string_view target) {
    if (!target.starts_with(gateway_target)) return {};
    target.remove_prefix(gateway_target.size());
    for (const auto& [name, gateway] : desk.estate.gateways.all()) {
        const auto to = parse_return(target, gateway);
        if (!to) continue;
        const auto of_port =
            to->own_port > 0 ? desk.estate.instances.by().port.of(static_cast<std::uint32_t>(to->own_port), 1)
                             : std::vector<const Instance*>{};
        if (!of_port.empty()) return of_port.front()->tenant;
        // "8080-i-7f3k": the port, and the instance's id.
        const Instance* instance = desk.estate.instances.find(to->route.substr(to->route.find('-') + 1));
        return instance ? instance->tenant : "";
    }
    return {};
}

}  // namespace

std::vector<SignInChoice> sign_in_choices(const Term& term, std::string_view target) {
    const Desk& desk = term.look();
    std::vector<SignInChoice> choices;
    for (ProviderChoice& one : provider_choices(desk, tenant_of_target(desk, target)))
        choices.push_back({"Sign in with " + one.label, std::move(one.path)});
    return choices;
}

}  // namespace hostler::master
