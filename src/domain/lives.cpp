#include "domain/lives.h"

#include <fmt/format.h>

#include "domain/alert/life.h"
#include "domain/cluster/life.h"
#include "domain/command/command.h"
#include "domain/instance/life.h"
#include "domain/inventory/host_life.h"
#include "domain/job/life.h"
#include "domain/scheduler/consolidation_record.h"
#include "domain/written.h"

namespace hostler {

namespace {

struct Row {
    std::string from;
    std::string event;
    std::string to;
};

// A life by its names: the first row's phase is where it begins.
struct Life {
    std::vector<std::string> phases;
    std::vector<Row> rows;
    std::string note;                // Heading of the last column; empty: there is none.
    std::vector<std::string> notes;  // For each phase.
};

template <class Phase, class Event, std::size_t n>
Life life_of(const Edge<Phase, Event> (&edges)[n]) {
    const auto text = [](auto value) { return std::string{boost::describe::enum_to_string(value, "")}; };
    Life life;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<Phase>>(
        [&life](auto phase) { life.phases.emplace_back(phase.name); });
    for (const auto& edge : edges) life.rows.push_back({text(edge.from), text(edge.event), text(edge.to)});
    return life;
}

Life instance() {
    Life life = life_of(instance_life);
    life.note = "in the API";
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<InstancePhase>>(
        [&life](auto phase) { life.notes.push_back(fmt::format("`{}`", state_of(phase.value))); });
    return life;
}

// Where a phase leads, each with the events that do: "fail, host_gone".
std::vector<std::pair<std::string, std::string>> ways(const Life& life, const std::string& from) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& row : life.rows) {
        if (row.from != from) continue;
        const auto known = std::ranges::find(all, row.to, [](const auto& way) { return way.first; });
        if (known == all.end())
            all.emplace_back(row.to, row.event);
        else
            known->second += ", " + row.event;
    }
    return all;
}

std::string draw(const Life& life) {
    std::string table = "| phase | event → phase |", line = "|---|---|", diagram;
    if (!life.note.empty()) {
        table += fmt::format(" {} |", life.note);
        line += "---|";
    }
    table += "\n" + line + "\n";
    diagram = fmt::format("    [*] --> {}\n", life.rows.front().from);
    for (std::size_t i = 0; i < life.phases.size(); ++i) {
        const auto& phase = life.phases[i];
        const auto onward = ways(life, phase);
        std::string cell;
        for (const auto& [to, events] : onward) {
            cell += fmt::format("{}{} → `{}`", cell.empty() ? "" : " · ", events, to);
            diagram += fmt::format("    {} --> {}: {}\n", phase, to, events);
        }
        if (onward.empty()) diagram += fmt::format("    {} --> [*]\n", phase);
        table += fmt::format("| `{}` | {} |", phase, onward.empty() ? "final" : cell);
        table += life.notes.empty() ? "\n" : fmt::format(" {} |\n", life.notes[i]);
    }
    return fmt::format("{}\n```mermaid\nstateDiagram-v2\n{}```\n", table, diagram);
}

struct Named {
    std::string_view name;
    Life (*life)();
};
constexpr Named lives[] = {{"instance", instance},
                           {"job", [] { return life_of(job_life); }},
                           {"cluster", [] { return life_of(cluster_life); }},
                           {"node", [] { return life_of(node_life); }},
                           {"save", [] { return life_of(save_life); }},
                           {"host", [] { return life_of(host_life); }},
                           {"command", [] { return life_of(command_life); }},
                           {"consolidation", [] { return life_of(consolidation_life); }},
                           {"alert", [] { return life_of(alert::alert_life); }}};

}  // namespace

std::vector<std::string_view> life_names() {
    std::vector<std::string_view> names;
    for (const auto& one : lives) names.push_back(one.name);
    return names;
}

Result<std::string> draw_life(std::string_view name) {
    const auto found = std::ranges::find(lives, name, &Named::name);
    if (found == std::end(lives)) return fail(Code::not_found, fmt::format("there is no life of '{}'", name));
    return draw(found->life());
}

Result<std::string> with_lives(std::string_view document) { return with_parts(document, "life", draw_life); }

}  // namespace hostler
