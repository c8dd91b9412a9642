// People of tenants and of the operator, how they sign in, and programs that act for a tenant.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

// As an identity provider knows a person: a subject means something to its provider alone.
struct UserIdentity {
    std::string provider;  // "idp-…"
    std::string subject;
    auto operator<=>(const UserIdentity&) const = default;
};
BOOST_DESCRIBE_STRUCT(UserIdentity, (), (provider, subject))

struct User {
    std::string id;     // "u-…"
    std::string login;  // Lower case, unique in the cloud.
    std::string name;
    std::string email;
    std::string tenant;                 // Home tenant; empty: a person of the operator.
    std::string password;               // Argon2id text; empty: none, so no sign-in by password.
    std::string totp;                   // Base32 secret of the second factor; empty: none.
    bool totp_confirmed = false;        // Codes are asked for only from then on.
    std::int64_t totp_step = 0;         // The last step whose code was used: none is taken twice.
    std::vector<std::string> recovery;  // Hashes of the recovery codes that are left.
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: enabled.
    std::vector<UserIdentity> identities;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(User, (),
                      (id, login, name, email, tenant, password, totp, totp_confirmed, totp_step, recovery,
                       created_at, disabled_at, identities))

inline bool has_totp(const User& user) { return user.totp_confirmed && !user.totp.empty(); }

// A link by which a person becomes a user, or gets a role beside those they have.
struct Invitation {
    std::string id;       // "inv-…"
    std::string tenant;   // Of the role; empty: the cloud's.
    std::string project;  // Empty: the role is given at the tenant, at the cloud or at a provider.
    std::string provider;
    std::string role;
    std::string login;       // Suggested; empty: the person chooses.
    std::string email;       // To whom the link goes.
    std::string hash;        // SHA-256 of the link's secret, hex.
    std::string made_by;     // "user/u-…", "key/k-…"
    std::string credential;  // What that call stood on: "login/HASH", "key/k-…".
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Invitation, (),
                      (id, tenant, project, provider, role, login, email, hash, made_by, credential,
                       created_at, expires_at))

// The identity provider by which a session came, and what it calls it. All empty: it came by a password.
struct SessionSource {
    std::string provider;
    std::string sid;      // Of the provider's session; empty: it told none.
    std::string subject;  // Of the person.
    std::string end_url;  // Where a browser ends the provider's session, too; empty: nowhere.
};

// A session of a person, from signing in to signing out.
struct Login {
    std::string hash;  // Of its secret "hu_…"; its id.
    std::string user;
    std::int64_t created_at = 0;
    std::int64_t used_at = 0;     // Last use, about.
    std::int64_t expires_at = 0;  // However much it is used.
    std::string address;
    std::string client;
    std::string provider;  // As of a SessionSource.
    std::string sid;
    std::string subject;
    std::string end_url;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Login, (),
                      (hash, user, created_at, used_at, expires_at, address, client, provider, sid, subject,
                       end_url))

inline void note_source(Login& login, const SessionSource& source) {
    login.provider = source.provider;
    login.sid = source.sid;
    login.subject = source.subject;
    login.end_url = source.end_url;
}

// A link by which a person sets a password without the old one, once.
struct PasswordLink {
    std::string hash;  // Of its secret; its id.
    std::string user;
    std::int64_t expires_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(PasswordLink, (), (hash, user, expires_at))

// A program that acts for a tenant, by keys.
struct ServiceAccount {
    std::string id;    // "sa-…"
    std::string name;  // Unique in its tenant.
    std::string tenant;
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: enabled.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(ServiceAccount, (), (id, name, tenant, created_at, disabled_at))

inline constexpr std::size_t users_tenant_max = 10'000;       // Also of the operator.
inline constexpr std::size_t invitations_tenant_max = 1'000;  // That wait.
inline constexpr std::size_t logins_user_max = 50;            // Sessions of a user; the oldest makes room.
inline constexpr std::size_t password_links_user_max = 5;     // The oldest makes room.
inline constexpr std::size_t accounts_tenant_max = 1'000;
inline constexpr std::size_t keys_account_max = 100;  // That are neither revoked nor over.

}  // namespace hostler
