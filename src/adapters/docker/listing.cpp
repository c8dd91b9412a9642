#include "adapters/docker/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "core/log.h"

namespace hostler::docker {

namespace json = boost::json;

namespace {

constexpr std::size_t apart_max = 32;  // Each costs a listing.
constexpr std::size_t told_max = 4096;
constexpr std::size_t id_length = 64;
constexpr std::size_t digits_told_apart = 12;
constexpr int looks_max = 3;
constexpr std::string_view hex_digits = "0123456789abcdef";

void tell(std::set<std::string>& told, const std::string& id, std::string_view words) {
    if (told.size() >= told_max) told.clear();
    if (told.insert(id).second)
        log_warn("container {}: the engine cannot list it with the others: {}", id.substr(0, 12), words);
}

Task<Answer> look(Api& api, std::string path, Duration call_time) {
    for (int tries = 1;; ++tries) {
        auto answer = CO_TRY(co_await api.call("GET", path, call_time));
        if (tries == looks_max || !ended_meanwhile(answer.status, answer.body)) co_return answer;
    }
}

// nullopt: it has gone meanwhile. Only that the engine does not answer is an error.
Task<std::optional<Inspected>> look_at(Api& api, std::string id, Duration call_time) {
    const auto answer = CO_TRY(co_await look(api, container_path(id, "/json"), call_time));
    if (is_gone(answer.status, answer.body)) co_return std::nullopt;
    if (answer.success()) co_return CO_TRY(parse_inspect(answer.body));
    Inspected unseen{.id = id};
    unseen.container.id = id;
    unseen.container.error = error_text(answer.body);
    unseen.container.state = ContainerState::running;  // Nobody may count on anything else.
    co_return unseen;
}

}  // namespace

std::string container_named(std::string_view words) {
    for (auto at = words.find_first_of(hex_digits); at != words.npos;) {
        const auto end = std::min(words.find_first_not_of(hex_digits, at), words.size());
        if (end - at == id_length) return std::string{words.substr(at, id_length)};
        at = words.find_first_of(hex_digits, end);
    }
    return {};
}

std::string all_ids_but(const std::set<std::string>& ids) {
    // By each beginning that they have: the digits that may follow in one of them.
    std::map<std::string, std::string> following;
    for (const auto& id : ids)
        for (std::size_t at = 0; at < std::min(id.size(), digits_told_apart); ++at)
            if (auto& digits = following[id.substr(0, at)]; !digits.contains(id[at])) digits += id[at];
    std::string all;
    for (const auto& [beginning, digits] : following)
        all += fmt::format("{}{}[^{}]", all.empty() ? "" : "|", beginning, digits);
    return fmt::format("^({})", all);
}

Task<std::optional<Inspected>> inspect_container(Api& api, std::string name, Duration call_time,
                                                 std::string root) {
    const auto answer = CO_TRY(co_await look(api, container_path(name, "/json"), call_time));
    if (is_gone(answer.status, answer.body)) co_return std::nullopt;
    if (!answer.success()) co_return std::unexpected(call_error(answer, "cannot look at container " + name));
    co_return CO_TRY(parse_inspect(answer.body, root));
}

Task<std::vector<Inspected>> list_containers(Api& api, std::string label, Duration call_time,
                                             std::set<std::string>& told) {
    std::set<std::string> apart;
    std::vector<Inspected> listed;
    while (true) {
        json::object filters{{"label", json::array{label}}};
        if (!apart.empty()) filters["id"] = json::array{all_ids_but(apart)};
        const auto answer = CO_TRY(co_await look(
            api, target("/containers/json", {{"all", "true"}, {"filters", json::serialize(filters)}}),
            call_time));
        if (answer.success()) {
            listed = CO_TRY(parse_list(answer.body));
            break;
        }
        const auto id = container_named(error_text(answer.body));
        if (id.empty() || apart.size() >= apart_max || !apart.insert(id).second)
            co_return std::unexpected(call_error(answer, "containers cannot be listed"));
        tell(told, id, error_text(answer.body));
    }
    std::vector<Inspected> all;
    for (auto& there : listed)
        // Only a closer look tells how it ended. It may be gone, or started again, by then.
        if (there.container.state == ContainerState::exited)
            apart.insert(there.id);
        else
            all.push_back(std::move(there));
    for (const auto& id : apart)
        if (auto closer = CO_TRY(co_await look_at(api, id, call_time))) {
            if (closer->container.name.empty()) tell(told, id, closer->container.error);
            all.push_back(std::move(*closer));
        }
    co_return all;
}

}  // namespace hostler::docker
