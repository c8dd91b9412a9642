#include "cli/apply_item.h"

#include <fmt/format.h>

#include "api/operation_list.h"
#include "cli/request.h"

namespace hostler::cli {

AppliedKind kind_of(std::string_view noun) {
    AppliedKind kind;
    for (const api::Operation* one : api::operations()) {
        if (one->noun != noun) continue;
        const bool creates =
            one->method == api::Method::post && (one->verb == "create" || one->verb == "submit");
        const bool sets = one->method == api::Method::put && one->verb == "set";
        // It is known again by a text.
        const api::Property* named = one->argument.empty() ? nullptr : one->request().find(one->argument);
        if ((creates || sets) && named && named->schema->kind == api::Kind::text) kind.create = one;
        if (one->verb == "get") kind.get = one;
        if (one->verb == "list") kind.list = one;
        if (one->verb == "delete") kind.remove = one;
        if (one->verb == "replace") kind.replace = one;
    }
    return kind;
}

std::vector<std::string_view> kinds() {
    std::vector<std::string_view> names;
    for (const api::Noun& noun : api::nouns())
        if (kind_of(noun.name).create) names.push_back(noun.name);
    return names;
}

std::string no_kind(std::string_view noun) {
    for (const api::Operation* one : api::operations())
        if (one->noun == noun && one->verb == "create")
            return fmt::format(
                "a {0} has no name by which it could be known again: `hostler {0} create` makes one", noun);
    if (const auto meant = api::nearest(noun, kinds()); !meant.empty())
        return fmt::format("there is no kind '{}'; did you mean '{}'?", noun, meant);
    return fmt::format("'{}' is none of {}", noun, fmt::join(kinds(), ", "));
}

std::string_view name(Outcome outcome) {
    switch (outcome) {
        case Outcome::created: return "created";
        case Outcome::updated: return "updated";
        case Outcome::unchanged: return "unchanged";
        case Outcome::refused: return "refused";
        case Outcome::not_tried: return "notTried";
    }
    broken("an outcome outside its enum", __FILE__, __LINE__);
}

}  // namespace hostler::cli
