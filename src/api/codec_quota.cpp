#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_quota.h"
#include "domain/quota/resource.h"

HOSTLER_JSON(hostler::api::QuotaLimit)
HOSTLER_JSON(hostler::api::QuotaUse)
HOSTLER_JSON(hostler::api::Quota)
HOSTLER_JSON(hostler::api::SetQuota)
HOSTLER_JSON(hostler::api::ListQuotas)
HOSTLER_JSON(hostler::api::DeleteQuota)
HOSTLER_JSON(hostler::api::List<hostler::api::Quota>)

namespace hostler::api {

namespace {

std::string wrong_name(const std::string& resource) {
    std::string wrong = wrong_resource(resource);
    if (wrong.empty()) return wrong;
    const auto meant = nearest(resource, {quota_resources.begin(), quota_resources.end()});
    return meant.empty() ? wrong : fmt::format("{}; did you mean {}?", wrong, meant);
}

void check_limit(const QuotaLimit& limit, const std::string& path, bool of_project, Wrong& wrong) {
    if (std::string name = wrong_name(limit.resource); !name.empty())
        return wrong.push_back({path + ".resource", std::move(name)});
    const auto most = parse_amount(limit.resource, limit.limit);
    const auto kept = parse_amount(limit.resource, limit.guaranteed);
    if (!most) wrong.push_back({path + ".limit", most.error().message});
    if (!kept) wrong.push_back({path + ".guaranteed", kept.error().message});
    if (!most || !kept || *kept == 0) return;
    if (!of_project)
        wrong.push_back({path + ".guaranteed",
                         "is for projects: their tenant keeps it for them. No capacity of the cloud is "
                         "promised to a tenant, a user or a service account"});
    else if (*kept > *most)
        wrong.push_back({path + ".guaranteed", "must not be above the limit"});
}

}  // namespace

void Rules<SetQuota>::check(const SetQuota& request, Wrong& wrong) {
    if (request.project && request.subject)
        wrong.push_back({"subject", "is limited in the whole tenant: leave out project"});
    std::set<std::string> seen;
    for (std::size_t i = 0; i < request.limits.size(); ++i) {
        const QuotaLimit& limit = request.limits[i];
        const std::string path = fmt::format("limits[{}]", i);
        check_limit(limit, path, request.project && !request.subject, wrong);
        if (!seen.insert(resource_key(limit.resource)).second)
            wrong.push_back({path + ".resource", "is given twice"});
    }
}

ApiArea quota_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &set_quota,
        &list_quotas,
        &delete_quota,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"quota", "Limits of what tenants, projects and people use at once."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
