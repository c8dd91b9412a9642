// Signing in, sessions, passwords and second factors.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct SignIn {
    std::string login;
    std::string password;
    std::optional<std::string> code{};
};
BOOST_DESCRIBE_STRUCT(SignIn, (), (login, password, code))
template <>
inline constexpr auto fields<SignIn> = std::to_array<Field>({
    {.member = "login", .help = "Login of the user.", .example = "ann@example.com", .min = 1, .max = 128},
    {.member = "password", .help = "The password.", .min = 1, .max = 256, .hidden = true},
    {.member = "code", .help = "One-time code or recovery code, for a user with a second factor.", .min = 1, .max = 64,
     .hidden = true},
});

struct SignedIn {
    std::string secret;
    std::string user_id;
    std::string login;
    std::string tenant_id;
    WallTime expires_at;
    std::int64_t idle_seconds = 0;
    bool needs_totp = false;
};
BOOST_DESCRIBE_STRUCT(SignedIn, (), (secret, user_id, login, tenant_id, expires_at, idle_seconds, needs_totp))
template <>
inline constexpr auto fields<SignedIn> = std::to_array<Field>({
    {.member = "secret", .help = "Credential of the session, shown this once; send it as Authorization: Bearer."},
    {.member = "user_id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Login of the user.", .example = "ann@example.com"},
    {.member = "tenant_id", .help = "Home tenant; empty: a person of the operator.", .example = "acme"},
    {.member = "expires_at", .help = "When the session ends, however much it is used."},
    {.member = "idle_seconds", .help = "The session ends after this time without use.", .example = "43200",
     .unit = Unit::seconds},
    {.member = "needs_totp", .help = "A second factor is required: only its enrolment works until it is confirmed."},
});

struct Session {
    std::string id;
    std::string user_id;
    std::string login;
    std::string address;
    std::string client;
    bool current = false;
    WallTime created_at;
    WallTime used_at;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(Session, (), (id, user_id, login, address, client, current, created_at, used_at, expires_at))
template <>
inline constexpr auto fields<Session> = std::to_array<Field>({
    {.member = "id", .help = "Id of the session; not its secret.", .example = "s-4f2a9c0d1e8b7a65"},
    {.member = "user_id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Login of the user.", .example = "ann@example.com"},
    {.member = "address", .help = "Address that signed in.", .example = "203.0.113.7"},
    {.member = "client", .help = "Program that signed in, as it names itself.", .example = "hostler/0.1.0"},
    {.member = "current", .help = "The session of this call."},
    {.member = "created_at", .help = "When the user signed in."},
    {.member = "used_at", .help = "Last use, to some minutes."},
    {.member = "expires_at", .help = "When it ends, however much it is used."},
});

struct ListSessions {
    std::optional<std::string> user{};
};
BOOST_DESCRIBE_STRUCT(ListSessions, (), (user))
template <>
inline constexpr auto fields<ListSessions> = std::to_array<Field>({
    {.member = "user", .help = "Id or login of the user. Default: the caller.", .example = "ann@example.com"},
});

struct NameSession {
    std::string session;
};
BOOST_DESCRIBE_STRUCT(NameSession, (), (session))
template <>
inline constexpr auto fields<NameSession> = std::to_array<Field>({
    {.member = "session", .help = "The session's id.", .example = "s-4f2a9c0d1e8b7a65"},
});

struct ChangePassword {
    std::string old_password;
    std::string new_password;
};
BOOST_DESCRIBE_STRUCT(ChangePassword, (), (old_password, new_password))
template <>
inline constexpr auto fields<ChangePassword> = std::to_array<Field>({
    {.member = "old_password", .help = "The present password.", .min = 1, .max = 256, .hidden = true},
    {.member = "new_password", .help = "The new password, 10 to 256 bytes.", .min = 10, .max = 256, .hidden = true},
});

struct ResetPassword {
    std::string secret;
    std::string new_password;
};
BOOST_DESCRIBE_STRUCT(ResetPassword, (), (secret, new_password))
template <>
inline constexpr auto fields<ResetPassword> = std::to_array<Field>({
    {.member = "secret", .help = "The secret that came with the user or the password link.", .min = 1, .max = 256,
     .hidden = true},
    {.member = "new_password", .help = "The new password, 10 to 256 bytes.", .min = 10, .max = 256, .hidden = true},
});

struct EnrolledTotp {
    std::string secret;
    std::string uri;
};
BOOST_DESCRIBE_STRUCT(EnrolledTotp, (), (secret, uri))
template <>
inline constexpr auto fields<EnrolledTotp> = std::to_array<Field>({
    {.member = "secret", .help = "Key for the authenticator program, in base 32; shown this once."},
    {.member = "uri", .help = "The same as an otpauth URI, for a QR code."},
});

struct ConfirmTotp {
    std::string code;
};
BOOST_DESCRIBE_STRUCT(ConfirmTotp, (), (code))
template <>
inline constexpr auto fields<ConfirmTotp> = std::to_array<Field>({
    {.member = "code", .help = "The code that the authenticator program shows now.", .example = "287082", .min = 6, .max = 6},
});

struct ConfirmedTotp {
    std::vector<std::string> recovery_codes;
};
BOOST_DESCRIBE_STRUCT(ConfirmedTotp, (), (recovery_codes))
template <>
inline constexpr auto fields<ConfirmedTotp> = std::to_array<Field>({
    {.member = "recovery_codes", .help = "Each stands in for a one-time code once. Shown this once.", .max = 10},
});

struct RemoveTotp {
    std::optional<std::string> user{};
    std::optional<std::string> code{};
};
BOOST_DESCRIBE_STRUCT(RemoveTotp, (), (user, code))
template <>
inline constexpr auto fields<RemoveTotp> = std::to_array<Field>({
    {.member = "user", .help = "Id or login of another user, for an admin. Default: the caller.", .example = "ann@example.com"},
    {.member = "code", .help = "One-time code or recovery code; required for the own second factor.", .min = 1, .max = 64,
     .hidden = true},
});

}  // namespace hostler::api
