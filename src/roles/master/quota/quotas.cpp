#include "roles/master/quota/quotas.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_quota.h"
#include "core/counted.h"
#include "domain/quota/check.h"
#include "domain/quota/resource.h"
#include "roles/master/quota/counts.h"
#include "roles/master/quota/usage.h"
#include "roles/master/quota/words.h"
#include "roles/master/role/subjects.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/principals.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<> check_version(const Quota* now, const std::string& whose,
                       const std::optional<std::int64_t>& expected) {
    const std::int64_t version = now ? now->version : 0;
    if (!expected || *expected == version) return {};
    return refuse(now ? fmt::format("the quota of {} has version {}, not {}", whose, version, *expected)
                      : fmt::format("{} has no quota, and so none of version {}", whose, *expected),
                  "version_differs", "Read it again: `hostler quota list`.");
}

std::vector<const Quota*> others_with_guarantees(const Desk& desk, const Quota& but) {
    std::vector<const Quota*> others = desk.estate.quotas.by().guaranteed.of(but.tenant);
    std::erase_if(others, [&](const Quota* one) { return one->id == but.id; });
    return others;
}

// What is guaranteed to the projects of a tenant is a part of what the tenant may use.
Result<> check_guarantees(const Desk& desk, const Quota& wanted) {
    const bool of_tenant = wanted.project.empty() && wanted.subject.empty();
    const Quota* tenant = of_tenant ? &wanted : desk.estate.quotas.find(wanted.tenant);
    if (!tenant || !wanted.subject.empty()) return {};
    std::vector<const Quota*> projects = others_with_guarantees(desk, wanted);
    if (!of_tenant) projects.push_back(&wanted);
    Error error{Code::conflict, "more would be guaranteed to projects than the tenant may use",
                "guarantees_exceeded"};
    error.help = fmt::format("See what is guaranteed: `hostler quota list --tenant {}`.", wanted.tenant);
    for (const QuotaLimit& limit : tenant->limits) {
        const std::int64_t sum = guaranteed_of(projects, limit.resource);
        if (sum <= limit.limit) continue;
        const auto own = std::ranges::find(wanted.limits, resource_key(limit.resource),
                                           [](const QuotaLimit& one) { return resource_key(one.resource); });
        if (own == wanted.limits.end() || (!of_tenant && own->guaranteed == 0)) continue;
        error.fields.push_back(
            {fmt::format("limits[{}].{}", own - wanted.limits.begin(), of_tenant ? "limit" : "guaranteed"),
             fmt::format("{} would be guaranteed to projects of tenant {}, which may use {}",
                         amount_in_words(limit.resource, sum), wanted.tenant,
                         amount_text(limit.resource, limit.limit))});
    }
    if (error.fields.empty()) return {};
    return std::unexpected(std::move(error));
}

Result<> check_there(const Desk& desk, const QuotaOf& of) {
    if (!desk.estate.tenants.find(of.tenant)) TRY(check_tenant(desk, of.tenant));
    if (of.project.empty() || of.project == default_project || find_project(desk, of.tenant, of.project))
        return {};
    return std::unexpected(no_such_project(desk, of.tenant, of.project));
}

std::vector<QuotaLimit> limits_of(const std::vector<api::QuotaLimit>& limits) {
    std::vector<QuotaLimit> all;
    for (const api::QuotaLimit& one : limits)
        all.push_back({.resource = one.resource,
                       .limit = parse_amount(one.resource, one.limit).value_or(0),
                       .guaranteed = parse_amount(one.resource, one.guaranteed).value_or(0)});
    return all;
}

}  // namespace

std::string words_of(const Desk& desk, const Quota& quota) {
    if (!quota.project.empty()) return fmt::format("project {} of tenant {}", quota.project, quota.tenant);
    if (quota.subject.empty()) return fmt::format("tenant {}", quota.tenant);
    const std::string name = name_of_subject(desk, quota.subject);
    return fmt::format("{} {} in tenant {}", quota.subject.starts_with(user_subject) ? "user" : "account",
                       name.empty() ? quota.subject : name, quota.tenant);
}

std::string flags_of(const Quota& quota) {
    std::string flags = fmt::format("--tenant {}", quota.tenant);
    if (!quota.project.empty()) flags += fmt::format(" --project {}", quota.project);
    if (!quota.subject.empty()) flags += fmt::format(" --subject {}", quota.subject);
    return flags;
}

Result<const Quota*> set_quota(Desk& desk, const QuotaOf& of, const std::vector<api::QuotaLimit>& limits,
                               const std::optional<std::int64_t>& if_version) {
    Quota wanted{.id = of.id(), .tenant = of.tenant, .project = of.project, .subject = of.subject};
    wanted.limits = limits_of(limits);
    const Quota* now = desk.estate.quotas.find(wanted.id);
    TRY(check_there(desk, of));
    TRY(check_version(now, words_of(desk, wanted), if_version));
    TRY(check_guarantees(desk, wanted));
    if (now && now->limits == wanted.limits) return now;
    if (!now && desk.estate.quotas.by().tenant.count(of.tenant) >= quotas_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("tenant {} has {} quotas, which is the limit (quotas_tenant_max)", of.tenant,
                                quotas_tenant_max),
                    "quota_exceeded");
    ensure_project(desk, of.tenant, of.project.empty() ? std::string{default_project} : of.project);
    desk.estate.event("quota", wanted.id, of.tenant, now ? "changed" : "created",
                      fmt::format("The quota of {} has {} now.", words_of(desk, wanted),
                                  counted(wanted.limits.size(), "limit")));
    if (!now) {
        wanted.created_at = desk.estate.micros();
        return &desk.estate.quotas.add(std::move(wanted));
    }
    Quota& changed = desk.estate.quotas.edit(wanted.id);
    changed.limits = std::move(wanted.limits);
    ++changed.version;
    return &changed;
}

Result<> delete_quota(Desk& desk, const QuotaOf& of, const std::optional<std::int64_t>& if_version) {
    const std::string id = of.id();
    const Quota* now = desk.estate.quotas.find(id);
    const std::string whose =
        words_of(desk, {.tenant = of.tenant, .project = of.project, .subject = of.subject});
    if (!now) return fail(Code::not_found, fmt::format("{} has no quota", whose), "quota_not_found");
    TRY(check_version(now, whose, if_version));
    desk.estate.event("quota", id, of.tenant, "deleted", fmt::format("The quota of {} was deleted.", whose));
    desk.estate.quotas.erase(id);
    return {};
}

api::Quota view(const Desk& desk, const Quota& quota) {
    const Amounts used = usage(desk).used(quota.tenant, quota.project, quota.subject);
    api::Quota shown{.tenant_id = quota.tenant,
                     .project = quota.project,
                     .subject = quota.subject,
                     .name = name_of_subject(desk, quota.subject),
                     .version = quota.version,
                     .created_at = wall(quota.created_at)};
    for (const QuotaLimit& one : quota.limits) {
        const auto text = [&](std::int64_t amount) { return amount_text(one.resource, amount); };
        const std::int64_t has = amount_of(used, one.resource);
        shown.limits.push_back({one.resource, text(one.limit), text(one.guaranteed), text(has)});
        std::string words = fmt::format("{} {} of {}", one.resource, text(has), text(one.limit));
        if (one.guaranteed > 0) words += fmt::format(" ({} guaranteed)", text(one.guaranteed));
        shown.usage.push_back(std::move(words));
    }
    return shown;
}

void write_quota_metrics(MetricsPage& page, const Desk& desk) {
    std::vector<std::pair<std::string, const Quota*>> shown;
    for (const auto& [id, quota] : desk.estate.quotas.all())
        if (quota.subject.empty()) shown.emplace_back(id, &quota);
    const auto each = [&](auto visit) {
        for (const auto& [id, quota] : shown) {
            const Amounts used = usage(desk).used(quota->tenant, quota->project, "");
            for (const QuotaLimit& one : quota->limits)
                page.row(
                    MetricsPage::labels(
                        {{"tenant", quota->tenant}, {"project", quota->project}, {"resource", one.resource}}),
                    visit(one, used));
        }
    };
    page.begin("hostler_quota_limit",
               "Limits of tenants and projects; cpu in thousandths, memory and volumes in bytes.",
               MetricsPage::Type::gauge);
    each([](const QuotaLimit& one, const Amounts&) { return one.limit; });
    page.begin("hostler_quota_used", "What is used of these limits, in the same units.",
               MetricsPage::Type::gauge);
    each([](const QuotaLimit& one, const Amounts& used) { return amount_of(used, one.resource); });
    page.begin("hostler_quota_refusals_total", "Calls of a tenant that a quota refused, in this term.",
               MetricsPage::Type::counter);
    for (const auto& [tenant, refused] : desk.live.part<QuotaCounts>().refused)
        page.value({{"tenant", tenant}}, refused);
}

}  // namespace hostler::master
