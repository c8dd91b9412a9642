#include "roles/master/component/components.h"

#include <fmt/format.h>

#include "api/types_component.h"
#include "api/types_zone.h"
#include "core/counted.h"
#include "core/version.h"
#include "roles/master/series/parts.h"
#include "roles/master/series/recorder.h"
#include "roles/master/state/views.h"
#include "roles/master/zone/view.h"

namespace hostler::master {

namespace {

using api::Component, api::ComponentKind, api::ComponentState;

std::optional<std::string> known(std::string text) {
    return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

void add_masters(const Term& term, std::vector<Component>& all) {
    const Desk& desk = term.look();
    const Ports& ports = term.ports();
    const Settings& settings = term.settings();
    Component& own = all.emplace_back(Component{.kind = ComponentKind::master, .id = settings.name});
    own.state = ComponentState::leading;
    own.address = known(settings.advertise);
    own.version = std::string{version};
    own.since = wall_if(desk.live.began_at);
    own.message = fmt::format("epoch {}", term.epoch());
    if (const auto facts = ports.authority.check(ports.own.credentials()->certificate);
        facts && facts->not_after > WallTime{})
        own.expires_at = facts->not_after;
    const std::int64_t silent = std::chrono::microseconds{master_silent_after}.count();
    const std::int64_t now = ports.timers.wall().time_since_epoch().count();
    for (const auto& [name, live] : desk.live.masters) {
        if (name == settings.name) continue;  // Itself, before it led.
        Component& other = all.emplace_back(Component{.kind = ComponentKind::master, .id = name});
        other.state = now - live.heard_at > silent ? ComponentState::down : ComponentState::standby;
        other.address = known(live.address);
        other.version = known(live.version);
        other.since = wall_if(other.state == ComponentState::down ? live.heard_at : live.since);
        other.seen_at = wall_if(live.heard_at);
    }
}

void add_gateways(const Desk& desk, std::vector<Component>& all) {
    for (const auto& [name, gateway] : desk.estate.gateways.all()) {
        Component& shown = all.emplace_back(Component{.kind = ComponentKind::gateway, .id = name});
        shown.address = known(gateway.address);
        if (!gateway.domain.empty()) shown.message = fmt::format("instances are names in {}", gateway.domain);
        const auto live = desk.live.gateway_links.find(name);
        if (live == desk.live.gateway_links.end()) continue;
        const bool linked = live->second.links > 0;
        shown.state = linked ? ComponentState::up : ComponentState::down;
        shown.version = known(live->second.version);
        shown.since = wall_if(live->second.since);
        if (!linked) shown.seen_at = shown.since;
    }
}

ComponentState state_of(api::AccessState state) {
    switch (state) {
        case api::AccessState::up: return ComponentState::up;
        case api::AccessState::down: return ComponentState::down;
        case api::AccessState::draining: return ComponentState::draining;
        case api::AccessState::drained: return ComponentState::drained;
    }
    return ComponentState::down;
}

void add_access_points(const Desk& desk, std::vector<Component>& all) {
    for (const auto& [name, row] : desk.estate.access_points.all()) {
        const api::AccessPoint point = view(desk, row);
        Component& shown = all.emplace_back(Component{.kind = ComponentKind::access, .id = name});
        shown.state = state_of(point.state);
        shown.zone = known(point.zone);
        shown.address = known(point.address);
        shown.version = known(point.version);
        shown.seen_at = point.seen_at;
        shown.message = fmt::format("{}, {}", counted(point.hosts, "host"), counted(point.tunnels, "tunnel"));
    }
}

void add_stores(Term& term, const std::optional<SeriesStats>& stats, std::vector<Component>& all) {
    const StoreFacts facts = term.ports().store.facts();
    Component& store = all.emplace_back(Component{.kind = ComponentKind::store});
    store.id = facts.kind.empty() ? "store" : facts.kind;
    store.state = term.read_only() ? ComponentState::full : ComponentState::up;
    if (facts.schema > 0) store.version = fmt::format("schema {}", facts.schema);
    if (term.read_only()) store.message = term.read_only()->message;

    Component& series = all.emplace_back(Component{.kind = ComponentKind::series, .id = "series"});
    series.state = recorder_of(term).behind() ? ComponentState::behind : ComponentState::up;
    if (!stats) return;
    series.size_bytes = static_cast<std::int64_t>(stats->disk_bytes);
    series.message = counted(stats->devices, "device");
    if (stats->forwarding && stats->forwarding->oldest)
        *series.message +=
            fmt::format("; samples since {} wait for the receiver",
                        rfc3339(WallTime{std::chrono::milliseconds{*stats->forwarding->oldest}}));
}

void add_authorities(const Term& term, std::vector<Component>& all) {
    for (const AuthorityFacts& one : term.ports().authority.all()) {
        Component& shown =
            all.emplace_back(Component{.kind = ComponentKind::authority, .id = one.fingerprint});
        shown.state = one.issues ? ComponentState::issuing : ComponentState::next;
        shown.message = known(one.name);
        if (one.not_after > WallTime{}) shown.expires_at = one.not_after;
    }
}

}  // namespace

std::vector<api::Component> components(Term& term, const std::optional<SeriesStats>& series) {
    std::vector<Component> all;
    add_masters(term, all);
    add_gateways(term.look(), all);
    add_access_points(term.look(), all);
    add_stores(term, series, all);
    add_authorities(term, all);
    return all;
}

}  // namespace hostler::master
