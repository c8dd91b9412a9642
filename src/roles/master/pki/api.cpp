// Who signs certificates.
#include <fmt/format.h>

#include "api/operations_authority.h"
#include "roles/master/http/api.h"
#include "roles/master/pki/authority.h"
#include "roles/master/pki/edge_keys.h"
#include "roles/master/pki/rotation.h"

namespace hostler::master {

namespace {

WallTime at(std::int64_t micros) { return WallTime{std::chrono::microseconds{micros}}; }

// Those of which there are keys, the oldest first; then what is withdrawn.
std::vector<api::Authority> shown_authorities(const Estate& estate, const Authority& authority) {
    std::vector<api::Authority> all;
    std::set<std::string> here;
    const auto describe = [&estate](api::Authority& shown) {
        const AuthorityRecord* row = estate.authorities.find(shown.fingerprint);
        if (!row) return;
        boost::describe::enum_from_string(text_of(row->phase).c_str(), shown.state);
        shown.since = at(row->since);
    };
    for (const AuthorityFacts& one : authority.all()) {
        here.insert(one.fingerprint);
        describe(all.emplace_back(
            api::Authority{.fingerprint = one.fingerprint,
                           .state = one.issues ? api::AuthorityState::issuing : api::AuthorityState::next,
                           .subject = one.name,
                           .not_before = one.not_before,
                           .not_after = one.not_after}));
    }
    for (const auto& [fingerprint, row] : estate.authorities.all())
        if (!here.contains(fingerprint))
            describe(all.emplace_back(api::Authority{.fingerprint = fingerprint}));
    return all;
}

api::Authorities shown(const Estate& estate, const Ports& ports) {
    constexpr std::size_t behind_max = 1000;
    api::Authorities shown{.authorities = shown_authorities(estate, ports.authority)};
    for (const Holding& one : holdings(estate, ports.authority, ports.digest)) {
        ++shown.holders;
        shown.renewed += one.renewed ? 1 : 0;
        shown.current += one.current ? 1 : 0;
        const std::string unknown = unknown_key_words(estate, one.name);
        if ((one.current && unknown.empty()) || shown.behind.size() >= behind_max) continue;
        shown.behind.push_back(
            {.name = one.name,
             .authority = one.authority,
             .message = !unknown.empty() ? unknown
                        : one.renewed    ? "it has the right certificate, and has not said yet "
                                           "that it believes whom it should"
                        : one.authority.empty()
                            ? "it has not said since the rotation began what it holds: it is "
                              "away, or of an older release"
                            : "its certificate is of another authority"});
    }
    return shown;
}

Result<> take_step(Desk& desk, Authority& authority, const api::Call& call,
                   const api::RotateAuthority& request) {
    switch (request.step) {
        case api::RotationStep::begin:
            return call.dry_run ? Result<>{} : begin_rotation(desk, authority, desk.estate.time());
        case api::RotationStep::issue: return issue_by_next(desk, authority);
        case api::RotationStep::withdraw:
            return withdraw_former(desk,
                                   request.force ? Holders::may_be_cut_off : Holders::must_have_changed);
    }
    return {};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call&, const api::RotateAuthority&) {
    std::string shown;
    for (const auto& [fingerprint, row] : desk.estate.authorities.all())
        shown += fmt::format("{}\"{}\":\"{}\"", shown.empty() ? "{" : ",", fingerprint, text_of(row.phase));
    return {"authority", "", shown.empty() ? "" : shown + "}"};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::AdmitKey& request) {
    const AdmittedKeys* row = desk.estate.admitted_keys.find(request.name);
    return {"admitted_keys/" + request.name, "", row ? encode_body(*row) : ""};
}

void add_authority(Api& service) {
    namespace ops = api::ops;
    service.read<ops::get_authorities>(
        [&service](const Desk& desk, const api::Call&, const api::Empty&) -> Result<api::Authorities> {
            return shown(desk.estate, TRY(service.leader())->ports());
        });
    service.write<ops::rotate_authority>(
        [&service](Desk& desk, const api::Call& call,
                   const api::RotateAuthority& request) -> Result<api::Authorities> {
            const TermPtr term = TRY(service.leader());
            TRY(take_step(desk, term->ports().authority, call, request));
            return shown(desk.estate, term->ports());
        });
    service.write<ops::admit_key>(
        [&service](Desk& desk, const api::Call&, const api::AdmitKey& request) -> Result<api::Authorities> {
            const TermPtr term = TRY(service.leader());
            admit_key(desk, request.name, request.key_fingerprint);
            ask_to_renew_again(*term, request.name);
            return shown(desk.estate, term->ports());
        });
}

}  // namespace hostler::master
