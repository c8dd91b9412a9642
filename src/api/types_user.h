// People, and invitations by which they come.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class UserState { enabled, disabled };
BOOST_DESCRIBE_ENUM(UserState, enabled, disabled)

// What becomes of the letter to a person.
enum class MailState { queued, none, off, limited };
BOOST_DESCRIBE_ENUM(MailState, queued, none, off, limited)

struct User {
    std::string id;
    std::string login;
    std::string name;
    std::string email;
    std::string tenant_id;
    UserState state = UserState::enabled;
    bool has_password = false;
    bool has_totp = false;
    int recovery_codes_left = 0;
    WallTime created_at;
    std::optional<WallTime> disabled_at{};
};
BOOST_DESCRIBE_STRUCT(User, (),
                      (id, login, name, email, tenant_id, state, has_password, has_totp, recovery_codes_left, created_at,
                       disabled_at))
template <>
inline constexpr auto fields<User> = std::to_array<Field>({
    {.member = "id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Name that the user signs in with, in lower case.", .example = "ann@example.com"},
    {.member = "name", .help = "Name of the person.", .example = "Ann Bell"},
    {.member = "email", .help = "E-mail address.", .example = "ann@example.com"},
    {.member = "tenant_id", .help = "Home tenant; empty: a person of the operator.", .example = "acme"},
    {.member = "state", .help = "`enabled`, or `disabled`: no sign-in, and every session has ended."},
    {.member = "has_password", .help = "The user has set a password."},
    {.member = "has_totp", .help = "Sign-in asks for a one-time code, too."},
    {.member = "recovery_codes_left", .help = "Recovery codes that were not used.", .example = "10"},
    {.member = "created_at", .help = "Creation time."},
    {.member = "disabled_at", .help = "Since when the user is disabled."},
});

struct CreateUser {
    std::string login;
    std::string name;
    std::string email;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateUser, (), (login, name, email, tenant_id))
template <>
inline constexpr auto fields<CreateUser> = std::to_array<Field>({
    {.member = "login", .help = "Name to sign in with; unique in the cloud.", .example = "ann@example.com", .min = 1, .max = 128,
     .form = &forms::login},
    {.member = "name", .help = "Name of the person.", .example = "Ann Bell", .max = 128, .form = &forms::one_line,
     .absent = Absent::fills},
    {.member = "email", .help = "E-mail address.", .example = "ann@example.com", .max = 254, .form = &forms::email,
     .absent = Absent::fills},
    {.member = "tenant_id", .help = "Home tenant. Default: the caller's; an operator makes a person of the operator.",
     .example = "acme", .form = &forms::id},
});

struct CreatedUser {
    std::string id;
    std::string login;
    std::string tenant_id;
    std::string secret;
    WallTime expires_at;
    MailState mail = MailState::none;
    std::optional<std::string> link{};
};
BOOST_DESCRIBE_STRUCT(CreatedUser, (), (id, login, tenant_id, secret, expires_at, mail, link))
template <>
inline constexpr auto fields<CreatedUser> = std::to_array<Field>({
    {.member = "id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Name that the user signs in with.", .example = "ann@example.com"},
    {.member = "tenant_id", .help = "Home tenant; empty: a person of the operator.", .example = "acme"},
    {.member = "secret", .help = "Sets the first password, once: `hostler password reset`. Shown this once."},
    {.member = "expires_at", .help = "When the secret ends."},
    {.member = "mail", .help = "Letter with the secret: queued: it is being sent, an event tells how that ends; none: there is no address; off: no mail server is configured; limited: too many letters of the tenant. Unless it is queued, give the secret to the person."},
    {.member = "link", .help = "Page where the person sets the password; it has the secret. Absent without `--public-url` of the masters. Shown this once.", .example = "https://gpu.example.com/sign-in/password?secret=hp_…"},
});

struct ListUsers {
    std::optional<std::string> tenant_id{};
    std::optional<UserState> state{};
};
BOOST_DESCRIBE_STRUCT(ListUsers, (), (tenant_id, state))
template <>
inline constexpr auto fields<ListUsers> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those with this home tenant.", .example = "acme", .form = &forms::id},
    {.member = "state", .help = "Only those in this state."},
});

struct NameUser {
    std::string user;
};
BOOST_DESCRIBE_STRUCT(NameUser, (), (user))
template <>
inline constexpr auto fields<NameUser> = std::to_array<Field>({
    {.member = "user", .help = "The user's id or login.", .example = "ann@example.com"},
});

// PATCH /v1/users/{user}. What is not given stays.
struct UpdateUser {
    std::string user;
    std::optional<std::string> name{};
    std::optional<std::string> email{};
};
BOOST_DESCRIBE_STRUCT(UpdateUser, (), (user, name, email))
template <>
inline constexpr auto fields<UpdateUser> = std::to_array<Field>({
    {.member = "user", .help = "The user's id or login.", .example = "ann@example.com"},
    {.member = "name", .help = "Name of the person.", .example = "Ann Bell", .max = 128, .form = &forms::one_line},
    {.member = "email", .help = "E-mail address; empty: none.", .example = "ann@example.com", .max = 254,
     .form = &forms::email},
});

struct CreatedPasswordLink {
    std::string user_id;
    std::string login;
    std::string secret;
    WallTime expires_at;
    MailState mail = MailState::none;
    std::optional<std::string> link{};
};
BOOST_DESCRIBE_STRUCT(CreatedPasswordLink, (), (user_id, login, secret, expires_at, mail, link))
template <>
inline constexpr auto fields<CreatedPasswordLink> = std::to_array<Field>({
    {.member = "user_id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Name that the user signs in with.", .example = "ann@example.com"},
    {.member = "secret", .help = "Sets a password, once: `hostler password reset`. Shown this once."},
    {.member = "expires_at", .help = "When the secret ends."},
    {.member = "mail", .help = "Letter with the secret: queued: it is being sent, an event tells how that ends; none: there is no address; off: no mail server is configured; limited: too many letters of the tenant. Unless it is queued, give the secret to the person."},
    {.member = "link", .help = "Page where the person sets the password; it has the secret. Absent without `--public-url` of the masters. Shown this once.", .example = "https://gpu.example.com/sign-in/password?secret=hp_…"},
});

struct Invitation {
    std::string id;
    std::string tenant_id;
    std::string project;
    std::string provider;
    std::string role;
    std::string login;
    std::string email;
    std::string made_by;
    WallTime created_at;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(Invitation, (),
                      (id, tenant_id, project, provider, role, login, email, made_by, created_at, expires_at))
template <>
inline constexpr auto fields<Invitation> = std::to_array<Field>({
    {.member = "id", .help = "Id of the invitation.", .example = "inv-3hq8wz"},
    {.member = "tenant_id", .help = "Tenant of the role; empty: the cloud, or a provider.", .example = "acme"},
    {.member = "project", .help = "Project of the role; empty: the whole tenant.", .example = "default"},
    {.member = "provider", .help = "Provider whose hosts these are.", .example = "farm"},
    {.member = "role", .help = "Role that the person gets.", .example = "member"},
    {.member = "login", .help = "Suggested login; empty: the person chooses.", .example = "ann@example.com"},
    {.member = "email", .help = "E-mail address of the person.", .example = "ann@example.com"},
    {.member = "made_by", .help = "Who made it.", .example = "user/u-9r4t1b"},
    {.member = "created_at", .help = "Creation time."},
    {.member = "expires_at", .help = "When it ends."},
});

struct CreateInvitation {
    std::string role;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> provider{};
    bool cloud = false;
    std::optional<std::string> login{};
    std::optional<std::string> email{};
    int ttl_seconds = 7 * 86400;
};
BOOST_DESCRIBE_STRUCT(CreateInvitation, (),
                      (role, tenant_id, project, provider, cloud, login, email, ttl_seconds))
template <>
inline constexpr auto fields<CreateInvitation> = std::to_array<Field>({
    {.member = "role", .help = "Role that the person gets.", .example = "member", .min = 1, .max = 63},
    {.member = "tenant_id", .help = "Tenant of the role. Default: the caller's.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the role. Default: the whole tenant.", .example = "default",
     .form = &forms::label},
    {.member = "provider", .help = "Provider for whose hosts the role counts, in place of a tenant.", .example = "farm",
     .form = &forms::id},
    {.member = "cloud", .help = "The role counts in the whole cloud.", .absent = Absent::fills},
    {.member = "login", .help = "Login of the new user. Default: the person chooses.", .example = "ann@example.com", .min = 1,
     .max = 128, .form = &forms::login},
    {.member = "email", .help = "E-mail address of the person.", .example = "ann@example.com", .min = 1, .max = 254,
     .form = &forms::email},
    {.member = "ttl_seconds", .help = "Lifetime of the invitation.", .example = "604800", .min = 60, .max = 90 * 86400,
     .absent = Absent::fills, .unit = Unit::seconds},
});
// One scope alone.
template <>
struct Rules<CreateInvitation> {
    static void check(const CreateInvitation& request, Wrong& wrong);
};

struct CreatedInvitation {
    std::string id;
    std::string tenant_id;
    std::string project;
    std::string provider;
    std::string role;
    std::string secret;
    WallTime expires_at;
    MailState mail = MailState::none;
    std::optional<std::string> link{};
};
BOOST_DESCRIBE_STRUCT(CreatedInvitation, (), (id, tenant_id, project, provider, role, secret, expires_at, mail, link))
template <>
inline constexpr auto fields<CreatedInvitation> = std::to_array<Field>({
    {.member = "id", .help = "Id of the invitation.", .example = "inv-3hq8wz"},
    {.member = "tenant_id", .help = "Tenant of the role; empty: the cloud, or a provider.", .example = "acme"},
    {.member = "project", .help = "Project of the role; empty: the whole tenant.", .example = "default"},
    {.member = "provider", .help = "Provider whose hosts these are.", .example = "farm"},
    {.member = "role", .help = "Role that the person gets.", .example = "member"},
    {.member = "secret", .help = "For the person, who uses it once: `hostler invitation accept`. Shown this once."},
    {.member = "expires_at", .help = "When it ends."},
    {.member = "mail", .help = "Letter with the secret: queued: it is being sent, an event tells how that ends; none: there is no address; off: no mail server is configured; limited: too many letters of the tenant. Unless it is queued, give the secret to the person."},
    {.member = "link", .help = "Page where the person accepts the invitation; it has the secret. Absent without `--public-url` of the masters. Shown this once.", .example = "https://gpu.example.com/sign-in/invitation?secret=hi_…"},
});

struct ListInvitations {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListInvitations, (), (tenant_id))
template <>
inline constexpr auto fields<ListInvitations> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
});

struct NameInvitation {
    std::string invitation;
};
BOOST_DESCRIBE_STRUCT(NameInvitation, (), (invitation))
template <>
inline constexpr auto fields<NameInvitation> = std::to_array<Field>({
    {.member = "invitation", .help = "The invitation's id.", .example = "inv-3hq8wz"},
});

struct AcceptInvitation {
    std::string secret;
    std::optional<std::string> login{};
    std::optional<std::string> name{};
    std::optional<std::string> password{};
};
BOOST_DESCRIBE_STRUCT(AcceptInvitation, (), (secret, login, name, password))
template <>
inline constexpr auto fields<AcceptInvitation> = std::to_array<Field>({
    {.member = "secret", .help = "The invitation's secret.", .min = 1, .max = 256, .hidden = true},
    {.member = "provider", .help = "Provider for whose hosts the role counts, in place of a tenant.", .example = "farm",
     .form = &forms::id},
    {.member = "cloud", .help = "The role counts in the whole cloud.", .absent = Absent::fills},
    {.member = "login", .help = "Login of the new user. Default: the invitation's. Not for a user who is signed in.",
     .example = "ann@example.com", .min = 1, .max = 128, .form = &forms::login},
    {.member = "name", .help = "Name of the person. Not for a user who is signed in.", .example = "Ann Bell", .max = 128,
     .form = &forms::one_line},
    {.member = "password", .help = "Password of the new user, 10 to 256 bytes. Not for a user who is signed in.", .min = 10,
     .max = 256, .hidden = true},
});

struct AcceptedInvitation {
    std::string user_id;
    std::string login;
    std::string tenant_id;
    std::string project;
    std::string provider;
    std::string role;
};
BOOST_DESCRIBE_STRUCT(AcceptedInvitation, (), (user_id, login, tenant_id, project, provider, role))
template <>
inline constexpr auto fields<AcceptedInvitation> = std::to_array<Field>({
    {.member = "user_id", .help = "Id of the user.", .example = "u-3hq8wz"},
    {.member = "login", .help = "Name that the user signs in with.", .example = "ann@example.com"},
    {.member = "tenant_id", .help = "Tenant of the role; empty: the cloud, or a provider.", .example = "acme"},
    {.member = "project", .help = "Project of the role; empty: the whole tenant.", .example = "default"},
    {.member = "provider", .help = "Provider whose hosts these are.", .example = "farm"},
    {.member = "role", .help = "Role that the user got.", .example = "member"},
});

}  // namespace hostler::api
