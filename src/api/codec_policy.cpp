#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_policy.h"

namespace hostler::api {

namespace {

std::string check_pattern(std::string_view text) {
    const bool good = !text.empty() && text.size() <= policy_pattern_max &&
                      std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
    return good ? "" : "must be 1 to 512 visible characters without blanks";
}

void refuse_twice(const std::optional<std::vector<std::string>>& list, std::string_view field, Wrong& wrong) {
    if (!list) return;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < list->size(); ++i)
        if (!seen.insert((*list)[i]).second)
            wrong.push_back({fmt::format("{}[{}]", field, i), "appears twice"});
}

}  // namespace

namespace forms {
constinit const Form pattern{"pattern", "^[!-~]{1,512}$", &check_pattern};
}  // namespace forms

void Rules<ReplacePolicy>::check(const ReplacePolicy& request, Wrong& wrong) {
    refuse_twice(request.specs, "specs", wrong);
    refuse_twice(request.zones, "zones", wrong);
    refuse_twice(request.images, "images", wrong);
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::Policy)
HOSTLER_JSON(hostler::api::ReplacePolicy)
HOSTLER_JSON(hostler::api::NamePolicy)
HOSTLER_JSON(hostler::api::DeletePolicy)
HOSTLER_JSON(hostler::api::ListPolicies)
HOSTLER_JSON(hostler::api::List<hostler::api::Policy>)

namespace hostler::api {

ApiArea policy_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_policies,
        &get_policy,
        &replace_policy,
        &delete_policy,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"policy", "Rules of the cloud and of tenants for what may be requested."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
