#include <algorithm>
#include <set>

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_policy.h"

namespace hostler::api {

namespace {

std::string wrong_pattern(std::string_view text) {
    const bool good = !text.empty() && text.size() <= policy_pattern_max &&
                      std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
    return good ? "" : fmt::format("must be 1 to {} visible characters without blanks", policy_pattern_max);
}

void check_each(const std::optional<std::vector<std::string>>& list, std::string_view field,
                auto what_is_wrong, Wrong& wrong) {
    if (!list) return;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string& one = (*list)[i];
        std::string what = what_is_wrong(one);
        if (what.empty() && !seen.insert(one).second) what = "appears twice";
        if (!what.empty()) wrong.push_back({fmt::format("{}[{}]", field, i), std::move(what)});
    }
}

}  // namespace

void Rules<ReplacePolicy>::check(const ReplacePolicy& request, Wrong& wrong) {
    check_each(request.specs, "specs", wrong_pattern, wrong);
    check_each(request.zones, "zones", forms::label.check, wrong);
    check_each(request.images, "images", wrong_pattern, wrong);
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
