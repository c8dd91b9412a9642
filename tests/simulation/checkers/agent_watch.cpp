#include "agent_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "proto/uplink.pb.h"

namespace hostler::simulation {

namespace {

constexpr std::string_view command_key = "command/";
constexpr std::string_view container_prefix = "hostler-";

}  // namespace

// A command is begun when the journal holds it as 'B', and over when it holds its answer.
void Obedience::writing(const std::string& key, const std::string& value) {
    if (!key.starts_with(command_key) || value.empty() || value[0] != 'B') return;
    const std::string id = key.substr(command_key.size());
    uplink::Command command;
    if (!command.ParseFromString(value.substr(value.find('\n') + 1))) return;
    if (begun_.contains(id))
        found_.report(Invariant::once, fmt::format("{} begins command {} again", host_, id));
    if (command.epoch() < epoch_)
        found_.report(Invariant::order, fmt::format("{} begins command {} of epoch {} after one of epoch {}",
                                                    host_, id, command.epoch(), epoch_));
    auto& generation = generations_[command.subject()];
    if (command.generation() < generation)
        found_.report(Invariant::order,
                      fmt::format("{} begins command {} for generation {} of {} after generation {}", host_,
                                  id, command.generation(), command.subject(), generation));
    open_[id] = command.subject();
}

void Obedience::written(const std::string& key, const std::string& value) {
    if (!key.starts_with(command_key) || value.empty()) return;
    const std::string id = key.substr(command_key.size());
    if (value[0] != 'B') {
        open_.erase(id);
        uplink::CommandUpdate answer;
        if (value[0] == 'D' && answer.ParseFromString(value.substr(value.find('\n') + 1)))
            tell(fmt::format("{}: {} is {}: {}", host_, id, answer.state(), answer.message()));
        return;
    }
    uplink::Command command;
    if (!command.ParseFromString(value.substr(value.find('\n') + 1))) return;
    tell(fmt::format("{}: {} begins: epoch {}, generation {} of {}, action {}", host_, id, command.epoch(),
                     command.generation(), command.subject(), static_cast<int>(command.action_case())));
    begun_.insert(id);
    epoch_ = std::max(epoch_, command.epoch());
    auto& generation = generations_[command.subject()];
    generation = std::max(generation, command.generation());
}

bool Obedience::under_way(const std::string& subject) const {
    return std::ranges::any_of(open_ | std::views::values,
                               [&](const std::string& other) { return other == subject; });
}

void Obedience::launching(const ContainerSpec& spec) {
    const auto instance = spec.labels.find("hostler.instance");
    const auto generation = spec.labels.find("hostler.generation");
    if (instance == spec.labels.end() || generation == spec.labels.end()) return;
    if (!under_way(instance->second))
        found_.report(Invariant::once,
                      fmt::format("{} launches {} though no command says so", host_, instance->second));
    const auto tenant = spec.labels.find("hostler.tenant");
    if (tenant == spec.labels.end()) return;
    const auto had = ids_.try_emplace(tenant->second, spec.ids).first->second;
    if (had != spec.ids)
        found_.report(Invariant::tenancy,
                      fmt::format("{} gives tenant {} users from {} after those from {}", host_,
                                  tenant->second, spec.ids.first_user, had.first_user));
    for (const auto& [other, ids] : ids_)
        if (other != tenant->second && ids == spec.ids)
            found_.report(Invariant::tenancy, fmt::format("{} gives tenants {} and {} the same users", host_,
                                                          tenant->second, other));
}

void Obedience::stopping(const std::string& container) {
    if (!container.starts_with(container_prefix)) return;
    const std::string instance = container.substr(container_prefix.size());
    if (!under_way(instance))
        found_.report(Invariant::once, fmt::format("{} stops {} though no command says so", host_, instance));
}

Task<> WatchedJournal::put_all(std::vector<Entry> entries) {
    for (const auto& [key, value] : entries) obedience_.writing(key, value);
    CO_TRY(co_await journal_.put_all(entries));
    for (const auto& [key, value] : entries) obedience_.written(key, value);
    co_return Result<>{};
}

}  // namespace hostler::simulation
