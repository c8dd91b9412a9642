#include "domain/policy/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/image/image.h"
#include "domain/policy/pattern.h"

namespace hostler {

namespace {

constexpr std::string_view no_zone = "(none)";

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
    return std::ranges::any_of(patterns, [&](const auto& one) { return pattern_matches(one, text); });
}

// Without a rule all is allowed.
bool spec_in(const Policy& policy, std::string_view spec) {
    return policy.specs.empty() || any_matches(policy.specs, spec);
}
bool zone_in(const Policy& policy, std::string_view zone) {
    return policy.zones.empty() || std::ranges::count(policy.zones, zone) > 0;
}
bool image_in(const Policy& policy, std::string_view image) {
    return policy.images.empty() ||
           std::ranges::any_of(policy.images, [&](const auto& one) { return image_matches(one, image); });
}

std::vector<const Policy*> both_of(const Policies& policies) {
    std::vector<const Policy*> all;
    for (const Policy* one : {policies.cloud, policies.tenant})
        if (one) all.push_back(one);
    return all;
}

bool both_allow(const Policies& policies, auto allows) {
    return !policies.unreadable &&
           std::ranges::all_of(both_of(policies), [&](const Policy* one) { return allows(*one); });
}

std::string list(const std::vector<std::string>& names) { return fmt::to_string(fmt::join(names, ", ")); }

// What one policy forbids.
void check(const PolicyRequest& request, const Policy& policy, std::vector<Violation>& into) {
    const std::string whose = words_for(policy);
    const auto add = [&](PolicyRule rule, const AskedValue& asked, std::string sentence) {
        into.push_back({rule, policy.id, asked, std::move(sentence)});
    };
    const auto check_names = [&](PolicyRule rule, std::string_view what, const auto& asked,
                                 const std::vector<std::string>& allowed, auto is_allowed) {
        for (const AskedValue& one : asked)
            if (!is_allowed(policy, one.value))
                add(rule, one, fmt::format("{} allows {} {}, not {}", whose, what, list(allowed), one.value));
    };
    check_names(PolicyRule::specs, "specs", request.specs, policy.specs, spec_in);
    check_names(PolicyRule::zones, "zones", request.zones, policy.zones, zone_in);
    std::vector<AskedValue> images = request.images;
    for (AskedValue& image : images) image.value = full_image_name(image.value);
    check_names(PolicyRule::images, "images", images, policy.images, image_in);
    if (!request.run.field.empty() && policy.max_run_s > 0 && request.run_s > policy.max_run_s)
        add(PolicyRule::max_run, request.run,
            fmt::format("{} allows runs of {} s at most, not {} s", whose, policy.max_run_s, request.run_s));
    if (!policy.public_ports)
        for (const AskedValue& port : request.public_ports)
            add(PolicyRule::public_ports, port,
                fmt::format("{} allows no public ports, and port {} is public", whose, port.value));
    if (!policy.share_links)
        for (const AskedValue& link : request.share_links)
            add(PolicyRule::share_links, link, fmt::format("{} allows no share links", whose));
}

// Zones that both allow, if both have the rule.
bool share_a_zone(const Policies& policies) {
    if (!policies.cloud || !policies.tenant) return true;
    const Policy& own = *policies.tenant;
    return own.zones.empty() ||
           std::ranges::any_of(own.zones, [&](const auto& zone) { return zone_in(*policies.cloud, zone); });
}

}  // namespace

std::string words_for(const Policy& policy) {
    return policy.tenant.empty() ? "the cloud's policy"
                                 : fmt::format("the policy of tenant {}", policy.tenant);
}

std::vector<Violation> violations(const PolicyRequest& request, const Policies& policies) {
    std::vector<Violation> found;
    if (policies.unreadable && request != PolicyRequest{})
        found.push_back(
            {PolicyRule::readable, "", {}, "a policy is damaged in the store, so nothing is allowed"});
    for (const Policy* policy : both_of(policies)) check(request, *policy, found);
    if (!request.place.field.empty() && request.zones.empty() && !share_a_zone(policies))
        found.push_back({PolicyRule::zones, "", request.place,
                         fmt::format("the cloud's policy allows zones {}, and {} allows none of them",
                                     list(policies.cloud->zones), words_for(*policies.tenant))});
    return found;
}

std::int64_t max_run_s(const Policies& policies) {
    std::int64_t least = 0;
    for (const Policy* policy : both_of(policies))
        if (policy->max_run_s > 0 && (least == 0 || policy->max_run_s < least)) least = policy->max_run_s;
    return least;
}

bool allows_public_ports(const Policies& policies) {
    return both_allow(policies, [](const Policy& policy) { return policy.public_ports; });
}
bool allows_share_links(const Policies& policies) {
    return both_allow(policies, [](const Policy& policy) { return policy.share_links; });
}
bool allows_spec(const Policies& policies, std::string_view spec) {
    return both_allow(policies, [&](const Policy& policy) { return spec_in(policy, spec); });
}
bool allows_zone(const Policies& policies, std::string_view zone) {
    return both_allow(policies, [&](const Policy& policy) { return zone_in(policy, zone); });
}
bool allows_trust(const Policies& policies, Trust trust) {
    return both_allow(policies, [&](const Policy& policy) { return trust >= policy.trust; });
}

void narrow(Terms& terms, const Policies& policies) {
    for (const Policy* policy : both_of(policies)) {
        terms.trust = std::max(terms.trust, policy->trust);
        if (policy->zones.empty()) continue;
        if (terms.zones.empty()) {
            terms.zones = policy->zones;
            continue;
        }
        std::erase_if(terms.zones, [&](const auto& zone) { return !zone_in(*policy, zone); });
        if (terms.zones.empty()) terms.zones = {std::string{no_zone}};
    }
    if (policies.unreadable) terms.zones = {std::string{no_zone}};
}

std::string narrowed_by(const Policies& policies) {
    std::vector<std::string> words;
    for (const Policy* policy : both_of(policies)) {
        std::vector<std::string> allowed;
        if (!policy->zones.empty()) allowed.push_back(fmt::format("zones {}", list(policy->zones)));
        if (policy->trust == Trust::trusted) allowed.emplace_back("trusted hosts");
        if (!allowed.empty())
            words.push_back(
                fmt::format("{} allows only {}", words_for(*policy), fmt::join(allowed, " and ")));
    }
    return fmt::to_string(fmt::join(words, "; "));
}

}  // namespace hostler
