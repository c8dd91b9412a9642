#include "cli/cluster.h"

#include <fmt/format.h>

#include "api/indent.h"
#include "cli/client.h"
#include "cli/table.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

std::optional<WallTime> time_of(const json::value& object, std::string_view name) {
    const auto time = parse_rfc3339(text_of(object, name));
    return time ? std::optional{*time} : std::nullopt;
}

// "images 12s", "kubeadm-join 3s (attempt 2: the port is in use)"
std::string step_line(const json::value& step, WallTime now) {
    const auto began = time_of(step, "beganAt"), ended = time_of(step, "endedAt");
    std::string out = safe_line(text_of(step, "step"));
    if (began) out += " " + age(*began, ended.value_or(now));
    const json::value* attempt = field_of(step, "attempt");
    const std::string problem = safe_line(text_of(step, "problem"));
    if (!problem.empty())
        out += fmt::format(" (attempt {}: {})", attempt ? api::compact(*attempt) : "?", problem);
    else if (!ended)
        out += " (runs)";
    return out;
}

}  // namespace

std::string cluster_nodes(const api::Schema& node, const json::array& nodes, const Style& style,
                          std::size_t indent) {
    Style narrow = style;
    if (narrow.columns > 0) narrow.columns = std::max(narrow.columns - static_cast<int>(indent), 1);
    std::string out;
    const auto add = [&](std::size_t more, std::string_view line) {
        out += fmt::format("{:{}}{}\n", "", indent + more, line);
    };
    const std::string table =
        Table{node, "name role pool state step host zone gpus id stateSince", narrow}.rows(nodes);
    for (std::size_t at = 0; at < table.size();) {
        const std::size_t end = table.find('\n', at);
        add(0, std::string_view{table}.substr(at, end - at));
        at = end + 1;
    }
    for (const json::value& one : nodes) {
        if (text_of(one, "state") == "ready") continue;
        add(0, safe_line(text_of(one, "name")) + ":");
        if (const std::string why = safe_line(text_of(one, "message")); !why.empty()) add(2, why);
        if (const json::value* left = field_of(one, "leftovers"); left && left->is_array())
            for (const json::value& part : left->get_array())
                if (part.is_string()) add(2, "left: " + safe_line(part.get_string()));
        if (const json::value* steps = field_of(one, "timeline"); steps && steps->is_array())
            for (const json::value& step : steps->get_array()) add(2, step_line(step, style.now));
    }
    return out;
}

}  // namespace hostler::cli
