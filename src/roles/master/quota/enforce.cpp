#include "roles/master/quota/enforce.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/quota/resource.h"
#include "roles/master/quota/amounts.h"
#include "roles/master/quota/counts.h"
#include "roles/master/quota/usage.h"
#include "roles/master/quota/words.h"

namespace hostler::master {

namespace {

std::string verb(std::string_view text, std::string_view one, std::string_view several) {
    return fmt::format("{} {}", text, text == "1" ? one : several);
}

std::string help_for(const QuotaRefusal& no) {
    const Quota& quota = *no.quota;
    const std::string set = fmt::format("hostler quota set {}", flags_of(quota));
    if (no.rule == QuotaRule::guarantees)
        return fmt::format(
            "An admin of the tenant can change what is guaranteed to projects (`hostler quota list --tenant "
            "{}` "
            "shows it); an operator can raise the tenant's limit (`{}`).",
            quota.tenant, set);
    if (quota.project.empty() && quota.subject.empty())
        return fmt::format("An operator can raise the limit: `{}`. Delete or stop what is not needed.", set);
    return fmt::format("An admin of tenant {} can raise the limit: `{}`. Delete or stop what is not needed.",
                       quota.tenant, set);
}

Error error_of(const Desk& desk, const QuotaRefusal& no) {
    std::string also;
    if (no.rule == QuotaRule::guarantees)
        also = fmt::format(", {} guaranteed to other projects",
                           verb(amount_text(no.resource, no.guaranteed), "is", "are"));
    Error error{Code::exhausted,
                fmt::format("{} may use {} (quota), {} used{} and {} asked for", words_of(desk, *no.quota),
                            amount_in_words(no.resource, no.limit),
                            verb(amount_text(no.resource, no.used), "is", "are"), also,
                            verb(amount_text(no.resource, no.asked), "was", "were")),
                "quota_exceeded"};
    error.help = help_for(no);
    return error;
}

}  // namespace

std::optional<QuotaDenial> quota_denial(const Desk& desk, const QuotaAsker& asker, const Amounts& asked) {
    const auto& quotas = desk.estate.quotas;
    const std::string subject = counted_subject(asker.created_by);
    std::vector<QuotaUse> counted, projects;
    const auto count = [&](const std::string& project, const std::string& of_subject) {
        const Quota* quota = quotas.find(Quota::id_of(asker.tenant, project, of_subject));
        if (quota) counted.push_back({quota, usage(desk).used(asker.tenant, project, of_subject)});
    };
    count("", "");
    const bool of_tenant = !counted.empty();
    if (!asker.project.empty()) count(asker.project, "");
    if (!subject.empty()) count("", subject);
    if (counted.empty()) return std::nullopt;
    if (of_tenant)
        for (const Quota* quota : quotas.by().guaranteed.of(asker.tenant))
            projects.push_back({quota, usage(desk).used(quota->tenant, quota->project, "")});
    const auto no = check_quota(counted, projects, {asker.project, asked});
    if (!no) return std::nullopt;
    return QuotaDenial{no->resource, error_of(desk, *no)};
}

Result<> check_quotas(const Desk& desk, const QuotaAsker& asker, const Amounts& asked) {
    auto denied = quota_denial(desk, asker, asked);
    if (!denied) return {};
    note_refused(desk, asker);
    return std::unexpected(std::move(denied->error));
}

void note_refused(const Desk& desk, const QuotaAsker& asker) {
    if (!desk.estate.in_trial()) ++desk.live.part<QuotaCounts>().refused[asker.tenant];
}

Amounts amounts_of(const Demand& demand) {
    Amounts amounts{{"instances", 1}};
    if (demand.cpu_milli > 0) amounts["cpu"] = demand.cpu_milli;
    if (demand.memory_bytes > 0) amounts["memory"] = demand.memory_bytes;
    if (demand.gpu_count > 0) amounts[std::string{gpus_resource}] = demand.gpu_count;
    // All models with these words: a class of fewer words counts each of them.
    if (demand.gpu_count > 0 && !demand.gpu_type.empty())
        amounts[resource_key(std::string{gpu_class_prefix} + demand.gpu_type)] = demand.gpu_count;
    return amounts;
}

Amounts still_asked(const Desk& desk, const std::string& instance, Amounts amounts) {
    if (desk.estate.quotas.all().empty()) return amounts;  // Use is not counted then, and no quota asks.
    for (const auto& [resource, amount] : usage(desk).of_instance(instance)) amounts[resource] -= amount;
    std::erase_if(amounts, [](const auto& row) { return row.second <= 0; });
    return amounts;
}

bool has_gpus_of(const Desk& desk, const std::string& host, const std::string& resource) {
    const Host* there = desk.estate.hosts.find(host);
    return there && std::ranges::any_of(there->facts.gpus, [&](const GpuFacts& gpu) {
               return amount_of({{gpu_class(gpu.model), 1}}, resource) > 0;
           });
}

}  // namespace hostler::master
