#include "roles/master/pki/authority.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "roles/master/pki/edge_keys.h"

namespace hostler::master {

namespace {

const AuthorityRecord* in_phase(const Estate& estate, AuthorityPhase phase) {
    for (const auto& [fingerprint, row] : estate.authorities.all())
        if (row.phase == phase) return &row;
    return nullptr;
}

// Hosts, access points and gateways, with what they have said; null: nothing.
void each_holder(const Estate& estate,
                 const std::function<void(const std::string& name, const CertificateHolder* said)>& visit) {
    const auto one = [&](const std::string& name) { visit(name, estate.holders.find(name)); };
    for (const auto& [id, host] : estate.hosts.all())
        if (host.phase != HostPhase::retired) one("host/" + id);
    for (const auto& [name, access] : estate.access_points.all()) one("access/" + name);
    for (const auto& [name, gateway] : estate.gateways.all()) one("gateway/" + name);
}

// What the store calls it from here on.
void set(Desk& desk, const std::string& fingerprint, AuthorityPhase phase) {
    auto& authorities = desk.estate.authorities;
    const AuthorityRecord* before = authorities.find(fingerprint);
    if (before && before->phase == phase) return;
    if (!before) authorities.add({.fingerprint = fingerprint});
    AuthorityRecord& row = authorities.edit(fingerprint);
    row.phase = phase;
    row.since = desk.estate.micros();
    desk.estate.event("authority", fingerprint, "", text_of(phase),
                      fmt::format("Authority {}…: {}.", fingerprint.substr(0, 16), text_of(phase)));
}

}  // namespace

Result<> begin_rotation(Desk& desk, Authority& authority, WallTime now) {
    if (in_phase(desk.estate, AuthorityPhase::next)) return {};
    if (in_phase(desk.estate, AuthorityPhase::outgoing))
        return fail(Code::conflict,
                    "the last rotation has not ended: its former authority is to be withdrawn",
                    "rotation_under_way");
    if (const AuthorityRecord* issuing = in_phase(desk.estate, AuthorityPhase::issuing))
        TRY(authority.keep({issuing->fingerprint}, issuing->fingerprint));  // What was withdrawn stays so.
    TRY(authority.add(now));
    const auto all = authority.all();
    std::vector<std::string> told;
    for (const auto& [name, holder] : desk.estate.holders.all()) told.push_back(name);
    for (const std::string& name : told) desk.estate.holders.erase(name);
    set(desk, all.front().fingerprint, AuthorityPhase::issuing);
    set(desk, all.back().fingerprint, AuthorityPhase::next);
    return {};
}

Result<> issue_by_next(Desk& desk, Authority& authority) {
    const AuthorityRecord* next = in_phase(desk.estate, AuthorityPhase::next);
    if (!next && in_phase(desk.estate, AuthorityPhase::outgoing)) return {};
    if (!next) return fail(Code::conflict, "no rotation has begun", "rotation_not_begun");
    const std::string follower = next->fingerprint;
    const AuthorityRecord* issuing = in_phase(desk.estate, AuthorityPhase::issuing);
    HOSTLER_ASSERT(issuing);
    TRY(authority.keep({issuing->fingerprint, follower}, issuing->fingerprint));  // Reads what was imported.
    if (std::ranges::count(authority.all(), follower, &AuthorityFacts::fingerprint) == 0)
        return fail(Code::conflict,
                    fmt::format("this master has no key of the authority {}: have it here by `hostler ca "
                                "import`",
                                follower),
                    "authority_old");
    set(desk, issuing->fingerprint, AuthorityPhase::outgoing);
    set(desk, follower, AuthorityPhase::issuing);
    return {};
}

Result<> withdraw_former(Desk& desk, Holders holders) {
    const AuthorityRecord* former = in_phase(desk.estate, AuthorityPhase::outgoing);
    if (!former && in_phase(desk.estate, AuthorityPhase::next))
        return fail(Code::conflict, "the new authority does not issue yet", "rotation_under_way");
    if (!former && !in_phase(desk.estate, AuthorityPhase::withdrawn))
        return fail(Code::conflict, "no rotation has begun", "rotation_not_begun");
    if (!former) return {};
    std::size_t left = 0;
    std::string names;
    constexpr std::size_t named_max = 10;
    const AuthorityRecord* issuing = in_phase(desk.estate, AuthorityPhase::issuing);
    each_holder(desk.estate, [&](const std::string& name, const CertificateHolder* said) {
        if (said && issuing && said->authority == issuing->fingerprint) return;
        if (left++ < named_max) names += (names.empty() ? "" : ", ") + name;
    });
    if (left > 0 && holders == Holders::must_have_changed)
        return fail(Code::conflict,
                    fmt::format("{} would be cut off, since they have no certificate of the new authority: "
                                "{}{}; wait for them, remove them, or use force",
                                left, names, left > named_max ? ", …" : ""),
                    "authority_in_use");
    set(desk, former->fingerprint, AuthorityPhase::withdrawn);
    return {};
}

Result<> agree_on_authority(Desk& desk, Authority& authority) {
    if (desk.estate.authorities.all().empty()) return {};
    const auto followed = follow_authority(desk.estate, authority);
    if (followed || followed.error().code != Code::not_found) return followed;
    const auto here = authority.all();
    const auto is_here = [&here](const std::string& fingerprint) {
        return std::ranges::count(here, fingerprint, &AuthorityFacts::fingerprint) > 0;
    };
    const AuthorityRecord* newest = desk.estate.authorities.find(here.back().fingerprint);
    const AuthorityRecord* issuing = in_phase(desk.estate, AuthorityPhase::issuing);
    const bool past =
        newest && (newest->phase == AuthorityPhase::outgoing || newest->phase == AuthorityPhase::withdrawn);
    const bool ahead = newest && newest->phase == AuthorityPhase::next;
    const bool restored = std::ranges::any_of(desk.estate.restores.all(), [&desk](const auto& restore) {
        return std::ranges::all_of(desk.estate.authorities.all(), [&restore](const auto& row) {
            return row.second.since < restore.second.restored_at;
        });
    });
    if (past || !(ahead || restored))
        return fail(
            Code::conflict,
            fmt::format("the keys here are of the authority {}, which {}: have the right ones here by "
                        "`hostler ca import`, and start again",
                        here.back().fingerprint,
                        past ? fmt::format("{} has followed", issuing ? issuing->fingerprint : "another")
                             : "the store does not know"),
            "authority_old");
    // The store is of an older time than the keys.
    std::vector<std::string> gone;
    for (const auto& [fingerprint, row] : desk.estate.authorities.all())
        if (!is_here(fingerprint)) gone.push_back(fingerprint);
    for (const std::string& fingerprint : gone) set(desk, fingerprint, AuthorityPhase::withdrawn);
    for (const AuthorityFacts& one : here)
        set(desk, one.fingerprint,
            one.issues                                   ? AuthorityPhase::issuing
            : one.fingerprint == here.back().fingerprint ? AuthorityPhase::next
                                                         : AuthorityPhase::outgoing);
    return {};
}

Result<> follow_authority(const Estate& estate, Authority& authority) {
    const AuthorityRecord* issuing = in_phase(estate, AuthorityPhase::issuing);
    if (!issuing) return {};
    std::vector<std::string> kept;
    for (const auto& [fingerprint, row] : estate.authorities.all())
        if (row.phase != AuthorityPhase::withdrawn) kept.push_back(fingerprint);
    const auto here = authority.all();
    const bool so = std::ranges::all_of(here, [&](const AuthorityFacts& one) {
        return std::ranges::count(kept, one.fingerprint) > 0 &&
               one.issues == (one.fingerprint == issuing->fingerprint);
    });
    return so ? Result<>{} : authority.keep(std::move(kept), issuing->fingerprint);
}

void note_holding(Desk& desk, const Authority& authority, const Digest& digest, const std::string& name,
                  const std::string& certificate, const std::string& believed) {
    if (desk.estate.authorities.all().empty()) return;
    const auto facts = authority.check(certificate);
    if (!facts || facts->identity.text() != name) return;
    const std::string believes = digest.sha256(believed);
    const CertificateHolder* before = desk.estate.holders.find(name);
    const bool same_key = before && before->key == facts->key_fingerprint;
    if (same_key && before->authority == facts->authority && before->believes == believes) return;
    // What is surely theirs is not overwritten by what may be a thief's.
    if (before && is_admitted(desk.estate, name, before->key) &&
        !is_admitted(desk.estate, name, facts->key_fingerprint))
        return;
    if (!before) desk.estate.holders.add({.name = name});
    CertificateHolder& row = desk.estate.holders.edit(name);
    row.authority = facts->authority;
    row.believes = believes;
    row.key = facts->key_fingerprint;
    row.told_at = desk.estate.micros();
}

std::vector<Holding> holdings(const Estate& estate, const Authority& authority, const Digest& digest) {
    std::vector<Holding> all;
    const AuthorityRecord* issuing = in_phase(estate, AuthorityPhase::issuing);
    if (!issuing) return all;
    const std::string believed = digest.sha256(authority.certificate());
    each_holder(estate, [&](const std::string& name, const CertificateHolder* said) {
        const bool renewed = said && said->authority == issuing->fingerprint;
        all.push_back({.name = name,
                       .authority = said ? said->authority : "",
                       .renewed = renewed,
                       .current = renewed && said->believes == believed});
    });
    return all;
}

}  // namespace hostler::master
