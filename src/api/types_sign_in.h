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

struct BeginDeviceSignIn {
    std::optional<std::string> host{};
};
BOOST_DESCRIBE_STRUCT(BeginDeviceSignIn, (), (host))
template <>
inline constexpr auto fields<BeginDeviceSignIn> = std::to_array<Field>({
    {.member = "host", .help = "Name of the machine that signs in; the person who confirms sees it.", .example = "laptop",
     .min = 1, .max = 64},
});

struct DeviceSignIn {
    std::string device_code;
    std::string user_code;
    std::string verification_uri;
    std::string verification_uri_complete;
    std::int64_t expires_in = 0;
    std::int64_t interval = 0;
};
BOOST_DESCRIBE_STRUCT(DeviceSignIn, (), (device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval))
template <>
inline constexpr auto fields<DeviceSignIn> = std::to_array<Field>({
    {.member = "device_code", .help = "Secret with which the program asks for its session; shown this once."},
    {.member = "user_code", .help = "Code that the person compares or types in the browser.", .example = "BCDF-GHJK"},
    {.member = "verification_uri", .help = "Page where the person types the code.",
     .example = "https://gpu.example.com/sign-in/device"},
    {.member = "verification_uri_complete", .help = "The same page with the code.",
     .example = "https://gpu.example.com/sign-in/device?code=BCDF-GHJK"},
    {.member = "expires_in", .help = "The codes end after this time.", .example = "600", .unit = Unit::seconds},
    {.member = "interval", .help = "Least time between two questions for the session.", .example = "2",
     .unit = Unit::seconds},
});

struct EndDeviceSignIn {
    std::string device_code;
};
BOOST_DESCRIBE_STRUCT(EndDeviceSignIn, (), (device_code))
template <>
inline constexpr auto fields<EndDeviceSignIn> = std::to_array<Field>({
    {.member = "device_code", .help = "The secret of beginDeviceSignIn.", .min = 1, .max = 256, .hidden = true},
});

struct SignedOut {
    std::optional<std::string> end_session_url{};
};
BOOST_DESCRIBE_STRUCT(SignedOut, (), (end_session_url))
template <>
inline constexpr auto fields<SignedOut> = std::to_array<Field>({
    {.member = "end_session_url",
     .help = "Open it in the browser to end the session at the identity provider, too; absent: there is none.",
     .example = "https://id.example.com/logout?client_id=hostler"},
});

struct ConsoleLink {
    std::string url;
    std::string secret;
    WallTime expires_at{};
};
BOOST_DESCRIBE_STRUCT(ConsoleLink, (), (url, secret, expires_at))
template <>
inline constexpr auto fields<ConsoleLink> = std::to_array<Field>({
    {.member = "url", .help = "Open it in a browser, once: it signs the browser in as the caller.",
     .example = "https://api.example.com/sign-in/console?code=hc_2b7k"},
    {.member = "secret", .help = "The code in the link.", .example = "hc_2b7k"},
    {.member = "expires_at", .help = "When the link ends if it was not opened."},
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
