#include "roles/master/http/denials.h"

#include <boost/json.hpp>

#include "core/client_address.h"
#include "core/safe_text.h"

namespace hostler::master {

namespace {

constexpr std::string_view further_reason = "further_refusals";

std::string bounded(std::string_view text) {
    constexpr std::size_t bytes_max = 256;
    return safe_line(text.substr(0, bytes_max));
}

}  // namespace

void Denials::note_call(Desk& desk, const std::string& who, AuditLine line) {
    ++count_.calls;
    note(desk, who, std::move(line));
}

void Denials::note_sign_in(Desk& desk, const std::string& who, AuditLine line) {
    if (line.result != audit_ok) ++count_.sign_ins_failed;
    note(desk, who, std::move(line));
}

void Denials::note(Desk& desk, const std::string& who, AuditLine line) {
    tell_further(desk);
    auto found = recent_.find(who);
    const bool has_room = lines_ < lines_all_max;
    if (found == recent_.end() && has_room) found = recent_.try_emplace(who).first;
    if (found == recent_.end()) {
        ++others_;
        ++count_.left_out;
        return;
    }
    Recent& recent = found->second;
    if (!has_room || recent.lines >= desk.settings.denial_lines_max) {
        ++recent.further;
        ++count_.left_out;
        return;
    }
    ++recent.lines;
    ++lines_;
    recent.last = line;
    desk.estate.audit(std::move(line));
}

void Denials::tell_further(Desk& desk) {
    constexpr std::int64_t minute_us = 60'000'000;
    const std::int64_t now = desk.estate.micros() / minute_us;
    if (now == minute_) return;
    minute_ = now;
    lines_ = 0;
    for (auto& [who, recent] : std::exchange(recent_, {}))
        if (recent.further > 0) tell(desk, std::move(recent.last), recent.further);
    if (const std::uint64_t others = std::exchange(others_, 0); others > 0)
        tell(desk, {.actor = "master", .status = 403, .result = std::string{audit_denied}}, others);
}

void Denials::tell(Desk& desk, AuditLine like, std::uint64_t further) {
    like.time = desk.estate.time();
    like.operation = "furtherRefusals";
    like.subject.clear();
    like.request.clear();
    like.service = "audit";
    like.reason = further_reason;
    like.after = boost::json::serialize(boost::json::object{{"count", further}});
    desk.estate.audit(std::move(like));
}

void audit_refused(Desk& desk, const api::Caller& caller, const RefusedCall& call, const Error& why) {
    constexpr std::size_t message_bytes_max = 512;
    boost::json::object after{
        {"message", safe_line(std::string_view{why.message}.substr(0, message_bytes_max))}};
    if (!call.permission.empty()) after["permission"] = call.permission;
    desk.live.part<Denials>().note_call(desk, caller.actor,
                                        {.time = desk.estate.time(),
                                         .actor = caller.actor,
                                         .address = caller.address,
                                         .operation = std::string{call.operation},
                                         .subject = bounded(call.subject),
                                         .tenant = caller.tenant,
                                         .status = 403,
                                         .after = boost::json::serialize(after),
                                         .client = caller.client,
                                         .service = std::string{call.service},
                                         .result = std::string{audit_denied},
                                         .reason = why.reason.empty() ? "forbidden" : why.reason,
                                         .request = caller.request_id});
}

void audit_sign_in(Desk& desk, std::string_view account, std::string_view address, std::string_view client,
                   SignInResult result, std::string_view reason, std::string_view request_id) {
    const auto word = [result] {
        switch (result) {
            case SignInResult::ok: return audit_ok;
            case SignInResult::denied: return audit_denied;
            case SignInResult::failed: return audit_failed;
        }
        broken("a result outside its enum", __FILE__, __LINE__);
    };
    const std::string name = bounded(account);
    const bool is_in = result == SignInResult::ok;
    desk.live.part<Denials>().note_sign_in(
        desk, "sign-in/" + name + "/" + client_of(address) + (is_in ? "/in" : ""),
        {.time = desk.estate.time(),
         .actor = "account/" + name,
         .address = bounded(address),
         .operation = "signIn",
         .subject = "account/" + name,
         .status = is_in                            ? 200
                   : result == SignInResult::denied ? 403
                                                    : 401,
         .client = safe_user_agent(client),
         .service = "account",
         .result = std::string{word()},
         .reason = bounded(reason),
         .request = std::string{request_id}});
}

}  // namespace hostler::master
