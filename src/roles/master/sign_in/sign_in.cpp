#include "roles/master/sign_in/sign_in.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_sign_in.h"
#include "core/ip_address.h"
#include "domain/tenancy/recovery.h"
#include "domain/tenancy/totp.h"
#include "roles/master/http/people.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

std::int64_t seconds_of(const Desk& desk) { return desk.estate.micros() / 1'000'000; }

// Errors: invalid.
Result<> take_totp(Desk& desk, const User& user, const std::string& code) {
    const auto step =
        totp_match(base32_bytes(user.totp).value_or(""), code, seconds_of(desk), user.totp_step);
    if (!step) {
        Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
        wrong.fields.push_back({"code", "is not the present code, or was used; wait for the next one"});
        return std::unexpected(std::move(wrong));
    }
    desk.estate.users.edit(user.id).totp_step = *step;
    return {};
}

bool take_recovery_code(Desk& desk, const User& user, const std::string& typed, const Digest& digest) {
    const auto letters = recovery_code_letters(typed);
    if (!letters) return false;
    const std::string hash = digest.sha256(*letters);
    if (std::ranges::count(user.recovery, hash) == 0) return false;
    std::erase(desk.estate.users.edit(user.id).recovery, hash);
    desk.estate.event("user", user.id, user.tenant, "recovery_code_used",
                      fmt::format("User {} used a recovery code; {} are left.", user.login,
                                  desk.estate.users.at(user.id).recovery.size()));
    return true;
}

}  // namespace

std::unexpected<Error> sign_in_failed() {
    return fail(Code::unauthenticated, "the login, the password or the code is wrong", "sign_in_failed");
}

Result<> use_code(Desk& desk, const std::string& id, const std::optional<std::string>& code,
                  const Digest& digest) {
    const User& user = desk.estate.users.at(id);
    if (!has_totp(user)) return {};
    if (!code)
        return fail(Code::unauthenticated, "this needs a one-time code or a recovery code, too",
                    "code_needed");
    if (take_totp(desk, user, *code) || take_recovery_code(desk, user, *code, digest)) return {};
    return sign_in_failed();
}

MadeLogin make_login(Desk& desk, const std::string& user, const api::Caller& from, const Digest& digest) {
    const auto logins = desk.estate.logins.by().user.of(user);
    if (logins.size() >= logins_user_max) {
        const Login* oldest = *std::ranges::min_element(logins, {}, &Login::used_at);
        desk.estate.logins.erase(std::string{oldest->hash});
    }
    std::string secret = new_secret(desk.random, login_prefix);
    const auto ip = ip_in(from.address);
    const std::string address = ip ? ip->bare_text() : from.address;  // Its port is of one connection.
    const std::int64_t now = desk.estate.micros();
    const Login& made = desk.estate.logins.add(
        {.hash = digest.sha256(secret),
         .user = user,
         .created_at = now,
         .used_at = now,
         .expires_at = now + std::chrono::microseconds{desk.settings.session_life}.count(),
         .address = address,
         .client = from.client});
    const User& person = desk.estate.users.at(user);
    desk.estate.event("user", user, person.tenant, "signed_in",
                      fmt::format("User {} signed in from {}.", person.login, address));
    return {&made, std::move(secret)};
}

api::Session view(const Desk& desk, const Login& login, const api::Call& call) {
    return {.id = session_id(login),
            .user_id = login.user,
            .login = desk.estate.users.at(login.user).login,
            .address = login.address,
            .client = login.client,
            .current = call.caller.credential == std::string{login_mark} + login.hash,
            .created_at = wall(login.created_at),
            .used_at = wall(login.used_at),
            .expires_at = wall(login.expires_at)};
}

std::string begin_totp(Desk& desk, const std::string& id) {
    std::string bytes(totp_secret_bytes, '\0');
    desk.random.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
    User& user = desk.estate.users.edit(id);
    user.totp = base32(bytes);
    user.totp_confirmed = false;
    user.totp_step = 0;
    user.recovery.clear();
    return user.totp;
}

Result<std::vector<std::string>> confirm_totp(Desk& desk, const std::string& id, const std::string& code,
                                              const Digest& digest) {
    const User& user = desk.estate.users.at(id);
    if (has_totp(user)) return refuse("the second factor is confirmed already", "totp_exists", "");
    if (user.totp.empty())
        return refuse("no second factor was begun", "totp_not_begun", "Begin one: `hostler totp enrol`.");
    TRY(take_totp(desk, user, code));
    std::vector<std::string> codes;
    User& confirmed = desk.estate.users.edit(id);
    confirmed.totp_confirmed = true;
    for (int i = 0; i < recovery_codes; ++i) {
        constexpr std::string_view prefix = "r";
        const std::string letters = new_id(desk.random, prefix, recovery_letters).substr(prefix.size() + 1);
        confirmed.recovery.push_back(digest.sha256(letters));
        codes.push_back(shown_recovery_code(letters));
    }
    desk.estate.event("user", id, confirmed.tenant, "totp_confirmed",
                      fmt::format("User {} has a second factor.", confirmed.login));
    return codes;
}

void remove_totp(Desk& desk, const std::string& id) {
    User& user = desk.estate.users.edit(id);
    user.totp.clear();
    user.totp_confirmed = false;
    user.totp_step = 0;
    user.recovery.clear();
    desk.estate.event("user", id, user.tenant, "totp_removed",
                      fmt::format("User {} has no second factor.", user.login));
}

}  // namespace hostler::master
