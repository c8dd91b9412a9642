// Operations on quotas.
#include <fmt/format.h>

#include "api/operations_quota.h"
#include "roles/master/http/api.h"
#include "roles/master/quota/quotas.h"
#include "roles/master/role/subjects.h"
#include "roles/master/tenancy/principals.h"

namespace hostler::master {

namespace {

// The own subject, and one that has a quota, by id: whose name the caller may not know.
Result<std::string> subject_meant(const Desk& desk, const api::Call& call, const std::string& tenant,
                                  const std::optional<std::string>& named) {
    if (!named || named->empty()) return std::string{};
    if (*named == call.caller.actor || desk.estate.quotas.find(Quota::id_of(tenant, "", *named)))
        return *named;
    std::string subject = TRY(subject_named_by(desk, call, tenant, *named));
    if (!subject.starts_with(group_subject)) return subject;
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    wrong.fields.push_back({"subject", "must be user/LOGIN or account/NAME: a group has no quota"});
    return std::unexpected(std::move(wrong));
}

template <class Request>
Result<QuotaOf> quota_meant(const Desk& desk, const api::Call& call, const Request& request) {
    QuotaOf of{.tenant = TRY(one_tenant_meant(call, request.tenant_id)), .project = request.project.value_or("")};
    of.subject = TRY(subject_meant(desk, call, of.tenant, request.subject));
    if (!of.subject.empty()) of.project.clear();
    return of;
}

// A tenant does not raise its own limit.
Result<> check_may_set(const api::Call& call, const QuotaOf& of) {
    const bool of_tenant = of.project.empty() && of.subject.empty();
    if (may(call, of_tenant ? Scope::cloud() : Scope::of_tenant(of.tenant))) return {};
    auto missing = api::permission_missing(call.permission);
    if (of_tenant && may(call, Scope::of_tenant(of.tenant))) {
        missing.error().message = fmt::format(
            "the quota of tenant {} is an operator's to change: it needs the permission {} in the whole "
            "cloud",
            of.tenant, name_of(call.permission));
        missing.error().help = fmt::format(
            "Ask an operator: `hostler quota set --tenant {}`. Quotas of projects, users and service "
            "accounts are yours to change.",
            of.tenant);
    }
    return missing;
}

bool sees(const api::Call& call, const Quota& row) {
    return may(call, scope_of(row)) || (!row.subject.empty() && row.subject == call.caller.actor);
}

Result<api::List<api::Quota>> list(const Desk& desk, const api::Call& call, const api::ListQuotas& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    const std::string subject = TRY(subject_meant(desk, call, tenant, request.subject));
    const auto wanted = [&](const Quota& row) {
        return sees(call, row) && (!request.project || row.project == *request.project) &&
               (!request.subject || row.subject == subject);
    };
    Paging<Quota, api::Quota> paging;
    if (tenant.empty()) {
        paging = rows_of<api::Quota>(desk.estate.quotas, wanted);
    } else {
        for (const Quota* row : desk.estate.quotas.by().tenant.of(tenant))
            if (wanted(*row)) paging.rows.push_back(row);
    }
    return paging.page(call, [&](const Quota& row) { return view(desk, row); });
}

Subject subject_of_quota(const Desk& desk, const Result<QuotaOf>& of) {
    const Quota* row = of ? desk.estate.quotas.find(of->id()) : nullptr;
    return row ? subject_named(*row, api::encode(view(desk, *row))) : Subject{};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::SetQuota& request) {
    return subject_of_quota(desk, quota_meant(desk, call, request));
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::DeleteQuota& request) {
    return subject_of_quota(desk, quota_meant(desk, call, request));
}

void add_quotas(Api& service) {
    namespace ops = api::ops;
    service.write<ops::set_quota>(
        [](Desk& desk, const api::Call& call, const api::SetQuota& request) -> Result<api::Quota> {
            const QuotaOf of = TRY(quota_meant(desk, call, request));
            TRY(check_may_set(call, of));
            return view(desk, *TRY(set_quota(desk, of, request.limits, request.if_version)));
        });
    service.read<ops::list_quotas>(list);
    service.write<ops::delete_quota>(
        [](Desk& desk, const api::Call& call, const api::DeleteQuota& request) -> Result<api::Empty> {
            const QuotaOf of = TRY(quota_meant(desk, call, request));
            TRY(check_may_set(call, of));
            TRY(delete_quota(desk, of, request.if_version));
            return api::Empty{};
        });
}

}  // namespace hostler::master
