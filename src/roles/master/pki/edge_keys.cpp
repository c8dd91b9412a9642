#include "roles/master/pki/edge_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/log.h"

namespace hostler::master {

namespace {

constexpr std::int64_t told_again_us = 60'000'000;  // Of one name; the log has them all.

bool is_registered(const Estate& estate, const std::string& name) {
    const auto slash = std::min(name.find('/'), name.size());
    const std::string id = name.substr(std::min(slash + 1, name.size()));
    return name.starts_with("access/") ? estate.access_points.find(id) != nullptr
                                       : estate.gateways.find(id) != nullptr;
}

std::string command_for(const std::string& name, const std::string& key) {
    return fmt::format("hostler ca admit {} --key-fingerprint {}", name, key);
}

// Whose certificates all are to have in the end; empty: no rotation is under way.
std::string newest_under_way(const Estate& estate) {
    std::string issuing;
    bool outgoing = false;
    for (const auto& [fingerprint, row] : estate.authorities.all()) {
        if (row.phase == AuthorityPhase::next) return fingerprint;
        if (row.phase == AuthorityPhase::issuing) issuing = fingerprint;
        outgoing |= row.phase == AuthorityPhase::outgoing;
    }
    return outgoing ? issuing : "";
}

// A name that nobody has said hello with leaves no trace in the store.
void note_refused(Desk& desk, const std::string& name, const std::string& key) {
    log_warn("master: {} asks for a certificate with a key that was not admitted: {}", name, key);
    if (!is_registered(desk.estate, name)) return;
    const std::int64_t now = desk.estate.micros();
    const CertificateHolder* before = desk.estate.holders.find(name);
    if (before && before->refused_at != 0 && now - before->refused_at < told_again_us) return;
    if (before && before->refused_key == key) return;
    if (!before) desk.estate.holders.add({.name = name});
    CertificateHolder& row = desk.estate.holders.edit(name);
    row.refused_key = key;
    row.refused_at = now;
    const auto slash = name.find('/');
    desk.estate.event(name.starts_with("access/") ? "access_point" : "gateway", name.substr(slash + 1), "",
                      "key_unknown",
                      fmt::format("A client asks as {} for a certificate of the new authority, with a key "
                                  "that was not admitted. If it is yours: {}",
                                  name, command_for(name, key)));
}

}  // namespace

void learn_issued(Desk& desk, const Ports& ports) {
    constexpr int of_a_name_max = 16;  // The newest; the rest of keys_max is for admit_key().
    if (!ports.issued) return;
    const auto all = ports.issued->all();
    std::map<std::string, int> later;
    for (const IssuedKey& one : all) ++later[one.name];
    for (const IssuedKey& one : all)
        if (later[one.name]-- <= of_a_name_max) admit_key(desk, one.name, one.key_fingerprint);
}

void admit_key(Desk& desk, const std::string& name, const std::string& key) {
    if (is_admitted(desk.estate, name, key)) return;
    if (!desk.estate.admitted_keys.find(name)) desk.estate.admitted_keys.add({.name = name});
    auto& keys = desk.estate.admitted_keys.edit(name).keys;
    keys.push_back(key);
    if (keys.size() > AdmittedKeys::keys_max) keys.erase(keys.begin());
}

bool is_admitted(const Estate& estate, const std::string& name, const std::string& key) {
    const AdmittedKeys* row = estate.admitted_keys.find(name);
    return row && std::ranges::count(row->keys, key) > 0;
}

Result<> may_follow(Desk& desk, const Ports& ports, const CertificateFacts& present) {
    const auto all = ports.authority.all();
    const auto signer = std::ranges::find(all, present.authority, &AuthorityFacts::fingerprint);
    if (signer != all.end() && signer->issues) return {};
    const std::string name = present.identity.text();
    if (!is_admitted(desk.estate, name, present.key_fingerprint)) learn_issued(desk, ports);
    if (is_admitted(desk.estate, name, present.key_fingerprint)) return {};
    note_refused(desk, name, present.key_fingerprint);
    return fail(
        Code::forbidden,
        fmt::format(
            "this key was not admitted for {}, and the new authority certifies no other; if it is yours: {}",
            name, command_for(name, present.key_fingerprint)),
        "key_unknown");
}

std::string unknown_key_words(const Estate& estate, const std::string& name) {
    const CertificateHolder* said = estate.holders.find(name);
    const std::string newest = newest_under_way(estate);
    if (!said || newest.empty() || name.starts_with("host/")) return {};
    const std::string shown = said->authority == newest ? "" : said->key;
    for (const std::string& key : {said->refused_key, shown})
        if (!key.empty() && !is_admitted(estate, name, key))
            return fmt::format(
                "its key is not one that an operator admitted, and gets no certificate of the "
                "new authority; if it is yours: {}",
                command_for(name, key));
    return {};
}

}  // namespace hostler::master
