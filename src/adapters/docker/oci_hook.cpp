#include "adapters/docker/oci_hook.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace hostler::docker {

namespace json = boost::json;

std::string oci_hook_file(const std::string& agent, std::vector<std::string> words,
                          std::string_view annotation, std::string_view stage) {
    constexpr int seconds = 10;
    json::array arguments{"hostler-agent"};
    for (std::string& word : words) arguments.emplace_back(std::move(word));
    json::object when;
    when["annotations"] = json::object{{fmt::format("^{}$", annotation), "."}};
    return json::serialize(
        json::object{{"version", "1.0.0"},
                     {"hook", {{"path", agent}, {"args", std::move(arguments)}, {"timeout", seconds}}},
                     {"when", std::move(when)},
                     {"stages", json::array{stage}}});
}

}  // namespace hostler::docker
