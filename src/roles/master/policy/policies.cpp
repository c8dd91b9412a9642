#include "roles/master/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_policy.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

bool is_damaged(const Desk& desk, const std::string& id) {
    return !desk.estate.unreadable().empty() &&
           desk.estate.unreadable().contains({std::string{Kind<Policy>::name}, id});
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

// Who changes the policies that refused it.
std::string help_for(const std::vector<Violation>& found, const std::string& tenant) {
    if (found.front().rule == PolicyRule::readable)
        return "An operator restores a backup, or takes the damaged row out: `hostler store drop policy ID`.";
    bool cloud = false, own = false;
    for (const Violation& one : found) {
        cloud = cloud || one.policy.empty() || one.policy == Policy::cloud_id;
        own = own || one.policy != Policy::cloud_id;
    }
    std::string help;
    if (own && !tenant.empty())
        help = fmt::format("An admin of tenant {0} can change its policy: `hostler policy set --tenant {0}`.",
                           tenant);
    if (cloud)
        help += fmt::format("{}An operator can change the cloud's policy: `hostler policy set`.",
                            help.empty() ? "" : " ");
    return help;
}

Error denied(const std::vector<Violation>& found, const std::string& tenant) {
    Error error{Code::forbidden, found.front().sentence, "policy_denied"};
    if (found.size() > 1) {
        error.message = fmt::format("{} rules of policies forbid this: ", found.size());
        for (const Violation& one : found)
            error.message += fmt::format("{}{}", &one == &found.front() ? "" : "; ", one.sentence);
    }
    for (const Violation& one : found)
        if (!one.asked.field.empty()) error.fields.push_back({one.asked.field, one.sentence});
    error.help = help_for(found, tenant);
    return error;
}

void add_ports(const std::vector<InstancePort>& ports, PortFields fields, PolicyRequest& into) {
    const std::string_view list = fields == PortFields::of_creation ? "template.ports" : "ports";
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].is_public)
            into.public_ports.push_back({fmt::format("{}[{}]", list, i), std::to_string(ports[i].port)});
}

void add_run(std::int64_t run_s, PolicyRequest& into) {
    into.run = {"maxRunSeconds", std::to_string(run_s)};
    into.run_s = run_s;
}

void limit_run(const Desk& desk, const std::string& tenant, StopSchedule& schedule) {
    if (schedule.max_run_s == 0) schedule.max_run_s = max_run_s(policies_of(desk, tenant));
}

// Names that must be there: all but patterns.
void check_names(const Desk& desk, const Policy& policy, std::vector<FieldError>& wrong) {
    for (std::size_t i = 0; i < policy.specs.size(); ++i)
        if (!policy.specs[i].contains('*') && !desk.estate.specs.find(policy.specs[i]))
            wrong.push_back(
                {fmt::format("specs[{}]", i), no_such_in(desk.estate.specs, "spec", policy.specs[i])});
    for (std::size_t i = 0; i < policy.zones.size(); ++i)
        if (!desk.estate.zones.find(policy.zones[i]))
            wrong.push_back(
                {fmt::format("zones[{}]", i), no_such_in(desk.estate.zones, "zone", policy.zones[i])});
}

bool same_rules(const Policy& a, const Policy& b) {
    return a.specs == b.specs && a.zones == b.zones && a.trust == b.trust && a.images == b.images &&
           a.max_run_s == b.max_run_s && a.public_ports == b.public_ports && a.share_links == b.share_links;
}

Policy policy_of(const api::ReplacePolicy& request, const std::string& tenant) {
    const std::vector<std::string> none;
    Policy policy{.id = Policy::id_of(tenant), .tenant = tenant};
    policy.specs = request.specs.value_or(none);
    policy.zones = request.zones.value_or(none);
    if (request.trust == api::Trust::trusted) policy.trust = Trust::trusted;
    policy.images = request.images.value_or(none);
    policy.max_run_s = request.max_run_seconds.value_or(0);
    policy.public_ports = request.public_ports.value_or(true);
    policy.share_links = request.share_links.value_or(true);
    return policy;
}

}  // namespace

Policies policies_of(const Desk& desk, const std::string& tenant) {
    const std::string own = Policy::id_of(tenant), cloud{Policy::cloud_id};
    return {.cloud = desk.estate.policies.find(cloud),
            .tenant = tenant.empty() ? nullptr : desk.estate.policies.find(own),
            .unreadable = is_damaged(desk, cloud) || is_damaged(desk, own)};
}

Result<> check_allowed(const Desk& desk, const std::string& tenant, const PolicyRequest& request) {
    const auto found = violations(request, policies_of(desk, tenant));
    if (found.empty()) return {};
    return std::unexpected(denied(found, tenant));
}

Result<> check_share_link(const Desk& desk, const std::string& tenant) {
    return check_allowed(desk, tenant, {.share_links = {{"instance", ""}}});
}

Result<> check_volume_zone(const Desk& desk, const std::string& tenant, const std::string& zone) {
    PolicyRequest request{.place = {"zone", ""}};
    if (!zone.empty()) request.zones.push_back({"zone", zone});
    return check_allowed(desk, tenant, request);
}

// A program reads the files of its host, so the operator decides.
static Result<> check_programs(const Desk& desk, const std::string& tenant) {
    const Tenant* row = desk.estate.tenants.find(tenant);
    if (row && row->programs) return {};
    Error error{Code::forbidden, fmt::format("tenant {} may not run programs without containers", tenant),
                "programs_forbidden"};
    error.help = fmt::format(
        "Name an image, or let an operator allow it: `hostler tenant edit {} --programs`.", tenant);
    return std::unexpected(std::move(error));
}

PolicyRequest request_of(const Instance& instance, const std::string& zone, PortFields fields) {
    PolicyRequest request{.specs = {{"specName", instance.spec_name}}, .place = {"zone", ""}};
    if (!instance.spec.program) request.images.push_back({"image", instance.spec.image});
    if (!zone.empty()) request.zones.push_back({"zone", zone});
    if (instance.spec.placement) {
        const auto& zones = instance.spec.placement->terms.zones;
        for (std::size_t i = 0; i < zones.size(); ++i)
            request.zones.push_back({fmt::format("placement.zones[{}]", i), zones[i]});
    }
    add_ports(instance.spec.ports, fields, request);
    add_run(instance.schedule.max_run_s, request);
    return request;
}

Result<> admit(const Desk& desk, Instance& instance, const std::string& zone, PortFields fields) {
    if (instance.spec.program) TRY(check_programs(desk, instance.tenant));
    TRY(check_allowed(desk, instance.tenant, request_of(instance, zone, fields)));
    limit_run(desk, instance.tenant, instance.schedule);
    return {};
}

Result<> admit_container(const Desk& desk, const Instance& before, const InstanceSpec& wanted) {
    PolicyRequest asked;
    if (wanted.image != before.spec.image) asked.images.push_back({"image", wanted.image});
    if (wanted.ports != before.spec.ports) add_ports(wanted.ports, PortFields::of_change, asked);
    return check_allowed(desk, before.tenant, asked);
}

Result<> admit_schedule(const Desk& desk, const Instance& before, StopSchedule& wanted) {
    if (wanted.max_run_s == before.schedule.max_run_s) return {};
    PolicyRequest asked;
    limit_run(desk, before.tenant, wanted);
    add_run(wanted.max_run_s, asked);
    return check_allowed(desk, before.tenant, asked);
}

Result<> check_kept_until(const Desk& desk, const Instance& instance, std::int64_t until) {
    const std::int64_t since = instance.ran_since != 0 ? instance.ran_since : desk.estate.micros();
    PolicyRequest asked;
    asked.run_s = std::max<std::int64_t>(until - since, 0) / 1'000'000;
    asked.run = {"forSeconds", std::to_string(asked.run_s)};
    return check_allowed(desk, instance.tenant, asked);
}

std::optional<Error> start_refused(const Desk& desk, const Instance& instance, const std::string& zone) {
    if (instance.spec.program)
        if (auto programs = check_programs(desk, instance.tenant); !programs)
            return std::move(programs).error();
    auto allowed = check_allowed(desk, instance.tenant, request_of(instance, zone));
    if (allowed) return std::nullopt;
    return std::move(allowed).error();
}

std::string narrowing_sentence(const Desk& desk, const std::string& tenant) {
    const std::string words = narrowed_by(policies_of(desk, tenant));
    return words.empty() ? "" : fmt::format(" {}.", capital(words));
}

Result<const Policy*> set_policy(Desk& desk, const api::ReplacePolicy& request, const std::string& tenant) {
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    Policy policy = policy_of(request, tenant);
    if (is_damaged(desk, policy.id))
        return refuse(fmt::format("policy {} is damaged in the store", policy.id), "row_damaged",
                      fmt::format("Take the row out: `hostler store drop policy {}`.", policy.id));
    Error wrong{Code::invalid, "some fields of the request are wrong", "invalid"};
    check_names(desk, policy, wrong.fields);
    if (wrong.fields.size() == 1) wrong.message = "one field of the request is wrong";
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    const Policy* before = desk.estate.policies.find(policy.id);
    const std::int64_t version = before ? before->version : 0;
    if (request.if_version && *request.if_version != version)
        return refuse(
            before ? fmt::format("policy {} has version {}, not {}", policy.id, version, *request.if_version)
                   : fmt::format("there is no policy {}", policy.id),
            "version_differs", fmt::format("Look at it again: `hostler policy get {}`.", policy.id));
    if (before && same_rules(*before, policy)) return before;
    const std::int64_t now = desk.estate.micros();
    policy.created_at = before ? before->created_at : now;
    policy.changed_at = now;
    policy.version = version + 1;
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    desk.estate.event("policy", policy.id, tenant, before ? "changed" : "created",
                      fmt::format("{} was {}: it counts for each start from now on.",
                                  capital(words_for(policy)), before ? "changed" : "set"));
    if (!before) return &desk.estate.policies.add(std::move(policy));
    policy.meta = before->meta;
    const std::string id = policy.id;
    desk.estate.policies.edit(id) = std::move(policy);
    return &desk.estate.policies.at(id);
}

void drop_policy(Desk& desk, const std::string& id) {
    const Policy* policy = desk.estate.policies.find(id);
    if (!policy) return;
    desk.estate.event("policy", id, policy->tenant, "deleted",
                      fmt::format("{} was deleted.", capital(words_for(*policy))));
    desk.estate.policies.erase(id);
}

api::Policy view(const Policy& policy) {
    api::Policy shown{.id = policy.id,
                      .tenant_id = policy.tenant,
                      .public_ports = policy.public_ports,
                      .share_links = policy.share_links,
                      .created_at = wall(policy.created_at),
                      .changed_at = wall(policy.changed_at),
                      .version = policy.version};
    if (!policy.specs.empty()) shown.specs = policy.specs;
    if (!policy.zones.empty()) shown.zones = policy.zones;
    if (policy.trust == Trust::trusted) shown.trust = api::Trust::trusted;
    if (!policy.images.empty()) shown.images = policy.images;
    if (policy.max_run_s > 0) shown.max_run_seconds = policy.max_run_s;
    return shown;
}

}  // namespace hostler::master
