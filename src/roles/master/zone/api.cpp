// Zones, access points, and the tokens with which hosts join.
#include <fmt/format.h>

#include "api/operations_zone.h"
#include "core/counted.h"
#include "roles/master/http/api.h"
#include "roles/master/state/near.h"
#include "roles/master/state/views.h"
#include "roles/master/zone/access_points.h"
#include "roles/master/zone/view.h"
#include "roles/master/zone/zones.h"

namespace hostler::master {

namespace {

Result<const Zone*> zone_named(const Desk& desk, const std::string& name) {
    if (const Zone* zone = desk.estate.zones.find(name)) return zone;
    return fail(Code::not_found, no_such_in(desk.estate.zones, "zone", name), "zone_not_found");
}

Result<api::Zone> create_zone(Desk& desk, const api::Call&, const api::CreateZone& request) {
    if (desk.estate.zones.find(request.name))
        return fail(Code::conflict, fmt::format("there is a zone {} already", request.name), "zone_exists");
    desk.estate.event("zone", request.name, "", "created", fmt::format("Zone {} was created.", request.name));
    Zone zone{.name = request.name, .place = request.location, .created_at = desk.estate.micros()};
    if (request.coordinates) zone.spot = TRY(parse_spot(*request.coordinates));
    return view(desk, desk.estate.zones.add(std::move(zone)));
}

Result<api::Empty> delete_zone(Desk& desk, const api::Call&, const api::NameZone& request) {
    const Zone& zone = *TRY(zone_named(desk, request.zone));
    const api::Zone shown = view(desk, zone);
    int slots = 0;
    for (const auto& [id, slot] : desk.estate.slots.all()) slots += slot.zone == zone.name ? 1 : 0;
    if (shown.hosts + shown.access_points + slots > 0)
        return fail(Code::conflict,
                    fmt::format("zone {} still has {}, {} and {}", zone.name, counted(shown.hosts, "host"),
                                counted(shown.access_points, "access point"), counted(slots, "stock slot")),
                    "zone_in_use");
    desk.estate.event("zone", zone.name, "", "deleted", fmt::format("Zone {} was deleted.", zone.name));
    desk.estate.zones.erase(request.zone);
    return api::Empty{};
}

Result<api::AccessPoint> drain(Desk& desk, const std::string& name, bool draining, bool force) {
    TRY(drain_access(desk, name, draining, force));
    return view(desk, desk.estate.access_points.at(name));
}

}  // namespace

static Subject zone_subject(const Desk& desk, const std::string& name) {
    const Zone* zone = desk.estate.zones.find(name);
    return {"zone/" + name, "", zone ? api::encode(view(desk, *zone)) : ""};
}

static Subject access_point_subject(const Desk& desk, const std::string& name) {
    const AccessPoint* row = desk.estate.access_points.find(name);
    return row ? subject_named(*row, api::encode(view(desk, *row))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateZone& request) {
    return zone_subject(desk, request.name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateZone& request) {
    return zone_subject(desk, request.zone);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameZone& request) {
    return zone_subject(desk, request.zone);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::DrainAccessPoint& request) {
    return access_point_subject(desk, request.access_point);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::GetAccessPoint& request) {
    return access_point_subject(desk, request.access_point);
}
Subject subject_of(const Desk&, const api::Call&, const api::CreateHostToken&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameHostToken& request) {
    const HostToken* token = desk.estate.host_tokens.find(request.host_token);
    return token ? subject_named(*token, api::encode(view(*token))) : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateHostToken&,
                      const api::CreatedHostToken& made) {
    return subject_of(desk, call, api::NameHostToken{made.id});
}

void add_zones(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_zones>([](const Desk& desk, const api::Call& call, const api::Empty&) {
        return rows_of<api::Zone>(desk.estate.zones, [](const Zone&) { return true; })
            .page(call, [&](const Zone& zone) { return view(desk, zone); });
    });
    service.read<ops::get_zone>(
        [](const Desk& desk, const api::Call&, const api::NameZone& request) -> Result<api::Zone> {
            return view(desk, *TRY(zone_named(desk, request.zone)));
        });
    service.write<ops::create_zone>(create_zone);
    service.write<ops::update_zone>(
        [](Desk& desk, const api::Call&, const api::UpdateZone& request) -> Result<api::Zone> {
            const Zone& zone = *TRY(zone_named(desk, request.zone));
            update_zone(desk, zone.name, request);
            return view(desk, zone);
        });
    service.write<ops::delete_zone>(delete_zone);
    service.read<ops::list_access_points>(
        [](const Desk& desk, const api::Call& call, const api::ListAccessPoints& request) {
            return rows_of<api::AccessPoint>(
                       desk.estate.access_points,
                       [&](const AccessPoint& row) { return !request.zone || row.zone == *request.zone; })
                .page(call, [&](const AccessPoint& row) { return view(desk, row); });
        });
    service.read<ops::get_access_point>([](const Desk& desk, const api::Call&,
                                           const api::GetAccessPoint& request) -> Result<api::AccessPoint> {
        if (const AccessPoint* row = desk.estate.access_points.find(request.access_point))
            return view(desk, *row);
        return fail(Code::not_found, fmt::format("there is no access point {}", request.access_point),
                    "access_point_not_found");
    });
    service.write<ops::drain_access_point>(
        [](Desk& desk, const api::Call&, const api::DrainAccessPoint& request) {
            return drain(desk, request.access_point, true, request.force);
        });
    service.write<ops::undrain_access_point>(
        [](Desk& desk, const api::Call&, const api::GetAccessPoint& request) {
            return drain(desk, request.access_point, false, false);
        });

    service.handlers().on<ops::create_host_token>(
        [&service](api::Call call, api::CreateHostToken request) -> Task<api::CreatedHostToken> {
            const TermPtr term = CO_TRY(service.leader());
            const Ports& ports = term->ports();
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_host_token)>>(
                [&ports](Desk& desk, const api::Call& call,
                         const api::CreateHostToken& asked) -> Result<api::CreatedHostToken> {
                    TRY(check_new(call, scope_of_provider(asked.provider)));
                    if (!desk.estate.zones.find(asked.zone)) {
                        Error error{Code::invalid, no_such_in(desk.estate.zones, "zone", asked.zone),
                                    "invalid"};
                        error.fields.push_back({"zone", "no such zone"});
                        return std::unexpected(std::move(error));
                    }
                    const std::string secret = new_secret(desk.random, "ht");
                    HostToken token{.id = new_id(desk.random, "t"),
                                    .hash = ports.digest.sha256(secret),
                                    .zone = asked.zone,
                                    .owner = asked.provider,
                                    .created_at = desk.estate.micros()};
                    token.expires_at = token.created_at + asked.ttl_seconds * std::int64_t{1'000'000};
                    std::vector<std::string> access;
                    for (const bool home : {true, false})
                        for (const auto& [name, row] : desk.estate.access_points.all())
                            if ((row.zone == asked.zone) == home && !row.draining)
                                access.push_back(row.uplink_address);
                    api::CreatedHostToken made{.id = token.id,
                                               .token = secret + "." + ports.authority.fingerprint(),
                                               .zone = token.zone,
                                               .provider = token.owner,
                                               .expires_at = wall(token.expires_at)};
                    made.command = join_command(access, made.token);
                    desk.estate.event("host_token", token.id, "", "created",
                                      fmt::format("A token for zone {} was made.", token.zone));
                    desk.estate.host_tokens.add(std::move(token));
                    return made;
                },
                std::move(call), std::move(request));
        });
    service.read<ops::list_host_tokens>([](const Desk& desk, const api::Call& call, const api::Empty&) {
        return rows_of<api::HostToken>(
                   desk.estate.host_tokens,
                   [&](const HostToken& row) { return may(call, scope_of_provider(row.owner)); })
            .page(call, [](const HostToken& row) { return view(row); });
    });
    service.write<ops::delete_host_token>(
        [](Desk& desk, const api::Call& call, const api::NameHostToken& request) -> Result<api::Empty> {
            const HostToken* token = desk.estate.host_tokens.find(request.host_token);
            Error absent{Code::not_found, fmt::format("there is no host token {}", request.host_token),
                         "host_token_not_found"};
            if (!token) return std::unexpected(std::move(absent));
            TRY(check(call, scope_of_provider(token->owner), std::move(absent)));
            desk.estate.event("host_token", token->id, "", "deleted", "The token is worth nothing now.");
            desk.estate.host_tokens.erase(request.host_token);
            return api::Empty{};
        });
}

}  // namespace hostler::master
