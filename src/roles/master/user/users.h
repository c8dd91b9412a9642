// Rules of users.
#pragma once

#include <optional>
#include <string>

#include "api/handlers.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct User;
}

namespace hostler::master {

inline constexpr std::int64_t password_link_life_us = 24ll * 3600 * 1'000'000;

api::User view(const User& user);

// By a login as it was typed; nullptr: none.
const User* find_login(const Desk& desk, std::string_view login);
// By id or login. Errors: not_found (user_not_found), also where the caller may not see the user; forbidden.
Result<const User*> user_named(const Desk& desk, const api::Call& call, const std::string& name);

struct NewUser {
    std::string login, name{}, email{}, tenant{}, password{};  // `password`: its hash.
};
// Errors: conflict (login_exists), exhausted (quota_exceeded).
Result<const User*> make_user(Desk& desk, NewUser wanted);
// All sessions and links end with it.
void disable_user(Desk& desk, const std::string& id);
void enable_user(Desk& desk, const std::string& id);
void remove_user(Desk& desk, const std::string& id);

// Of a user, apart from one.
void end_sessions(Desk& desk, const std::string& user, std::string_view but = {});
void forget_password_links(Desk& desk, const std::string& user);
// The secret of a link that sets a password.
std::string make_password_link(Desk& desk, const std::string& user, const Digest& digest);

// The page where a person sets a password with it.
inline constexpr std::string_view password_page_path = "/sign-in/password";

// A page's address with a secret. nullopt: masters were not told how people reach them.
std::optional<std::string> link_to(const Settings& settings, std::string_view page, std::string_view secret);

}  // namespace hostler::master
