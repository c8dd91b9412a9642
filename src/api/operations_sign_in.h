// Signing in, sessions, passwords and second factors.
#pragma once

#include "api/operation.h"
#include "api/types_sign_in.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<SignIn, SignedIn> sign_in{{
    .name = "signIn", .method = Method::post, .path = "/v1/sign-in", .permission = Permission::self_write,
    .help = "Sign in with login and password; the answer has the credential of a new session.", .open = true,
    .noun = "session", .verb = "create", .argument = "login", .example = "session create ann@example.com"}};
inline constexpr Typed<BeginDeviceSignIn, DeviceSignIn> begin_device_sign_in{{
    .name = "beginDeviceSignIn", .method = Method::post, .path = "/v1/sign-in/device", .permission = Permission::self_write,
    .help = "Begin to sign in a program through a browser; a person confirms it there.", .open = true,
    .noun = "session", .verb = "begin-device"}};
inline constexpr Typed<EndDeviceSignIn, SignedIn> end_device_sign_in{{
    .name = "endDeviceSignIn", .method = Method::post, .path = "/v1/sign-in/device/token",
    .permission = Permission::self_write,
    .help = "Get the session of a program that a person has confirmed in a browser; 409 authorization_pending until then.",
    .open = true, .noun = "session", .verb = "end-device"}};
inline constexpr Typed<Empty, SignedOut> sign_out{{
    .name = "signOut", .method = Method::post, .path = "/v1/sign-out", .permission = Permission::self_write,
    .help = "End the session of this call.", .noun = "session", .verb = "end"}};
inline constexpr Typed<Empty, ConsoleLink> create_console_link{{
    .name = "createConsoleLink", .method = Method::post, .path = "/v1/console-links", .permission = Permission::self_write,
    .help = "Make a link that signs a browser in to the console as the caller; it works once, within 10 minutes.",
    .status = 201, .noun = "console", .verb = "link", .example = "console link"}};
inline constexpr Typed<ListSessions, List<Session>> list_sessions{{
    .name = "listSessions", .path = "/v1/sessions", .permission = Permission::self_read,
    .help = "List the caller's sessions, or those of another user.", .list = true, .noun = "session", .verb = "list",
    .columns = "id login address client current usedAt expiresAt createdAt userID"}};
inline constexpr Typed<NameSession, Empty> revoke_session{{
    .name = "revokeSession", .method = Method::delete_, .path = "/v1/sessions/{session}",
    .permission = Permission::self_write, .help = "End a session at once: the caller's or, for an admin, another user's.",
    .noun = "session", .verb = "delete"}};
inline constexpr Typed<ChangePassword, Empty> change_password{{
    .name = "changePassword", .method = Method::post, .path = "/v1/password", .permission = Permission::self_write,
    .help = "Change the own password; all other sessions of the user end.", .noun = "password", .verb = "change"}};
inline constexpr Typed<ResetPassword, Empty> reset_password{{
    .name = "resetPassword", .method = Method::post, .path = "/v1/password-reset",
    .permission = Permission::self_write,
    .help = "Set a password with the secret of a new user or a password link; all sessions of the user end.",
    .open = true, .noun = "password", .verb = "reset"}};
inline constexpr Typed<Empty, EnrolledTotp> enrol_totp{{
    .name = "enrolTotp", .method = Method::post, .path = "/v1/totp", .permission = Permission::self_write,
    .help = "Begin a second factor with one-time codes; it counts once it is confirmed.", .status = 201,
    .noun = "totp", .verb = "enrol"}};
inline constexpr Typed<ConfirmTotp, ConfirmedTotp> confirm_totp{{
    .name = "confirmTotp", .method = Method::post, .path = "/v1/totp/confirm", .permission = Permission::self_write,
    .help = "Confirm the second factor with a code; the answer has recovery codes.", .noun = "totp",
    .verb = "confirm", .argument = "code", .example = "totp confirm 287082"}};
inline constexpr Typed<RemoveTotp, Empty> remove_totp{{
    .name = "removeTotp", .method = Method::post, .path = "/v1/totp/remove", .permission = Permission::self_write,
    .help = "Remove the own second factor, with a code or, for an admin, that of a user who lost it.", .noun = "totp",
    .verb = "remove", .example = "totp remove --user ann@example.com"}};

}  // namespace hostler::api::ops
