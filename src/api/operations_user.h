// People and invitations.
#pragma once

#include "api/operation.h"
#include "api/types_user.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateUser, CreatedUser> create_user{{
    .name = "createUser", .method = Method::post, .path = "/v1/users", .permission = Permission::user_write,
    .help = "Create a user without a password; the answer has a secret that sets it.", .status = 201, .noun = "user",
    .verb = "create", .argument = "login", .example = "user create ann@example.com --tenant acme"}};
inline constexpr Typed<ListUsers, List<User>> list_users{{
    .name = "listUsers", .path = "/v1/users", .permission = Permission::user_read, .help = "List users.", .list = true,
    .noun = "user", .verb = "list", .columns = "login name state tenantID hasTotp createdAt email id"}};
inline constexpr Typed<NameUser, User> get_user{{
    .name = "getUser", .path = "/v1/users/{user}", .permission = Permission::user_read, .help = "Show a user.",
    .noun = "user", .verb = "get"}};
inline constexpr Typed<UpdateUser, User> update_user{{
    .name = "updateUser", .method = Method::patch, .path = "/v1/users/{user}", .permission = Permission::user_write,
    .help = "Change the name or the e-mail address of a user.", .noun = "user", .verb = "edit",
    .example = "user edit ann@example.com --name 'Ann Bell'"}};
inline constexpr Typed<NameUser, User> disable_user{{
    .name = "disableUser", .method = Method::post, .path = "/v1/users/{user}/disable",
    .permission = Permission::user_write, .help = "Disable a user: all sessions end at once, and no sign-in works.",
    .noun = "user", .verb = "disable", .confirm = "All sessions of the user end."}};
inline constexpr Typed<NameUser, User> enable_user{{
    .name = "enableUser", .method = Method::post, .path = "/v1/users/{user}/enable",
    .permission = Permission::user_write, .help = "Enable a disabled user, who can sign in again.", .noun = "user",
    .verb = "enable"}};
inline constexpr Typed<NameUser, Empty> remove_user{{
    .name = "removeUser", .method = Method::delete_, .path = "/v1/users/{user}",
    .permission = Permission::user_write, .help = "Remove a user, with all sessions and roles.", .noun = "user",
    .verb = "delete", .confirm = "The user, all sessions and all roles are removed."}};
inline constexpr Typed<NameUser, CreatedPasswordLink> create_password_link{{
    .name = "createPasswordLink", .method = Method::post, .path = "/v1/users/{user}/password-link",
    .permission = Permission::user_write,
    .help = "Create a secret by which a user sets a new password, once, within a day.", .status = 201, .noun = "user",
    .verb = "password-link"}};

inline constexpr Typed<CreateInvitation, CreatedInvitation> create_invitation{{
    .name = "createInvitation", .method = Method::post, .path = "/v1/invitations",
    .permission = Permission::user_write, .help = "Invite a person to a role; the answer has a secret for the person.",
    .status = 201, .noun = "invitation", .verb = "create", .argument = "role",
    .example = "invitation create member --tenant acme --email ann@example.com"}};
inline constexpr Typed<ListInvitations, List<Invitation>> list_invitations{{
    .name = "listInvitations", .path = "/v1/invitations", .permission = Permission::user_read,
    .help = "List open invitations.", .list = true, .noun = "invitation", .verb = "list",
    .columns = "id role tenantID project provider email login expiresAt madeBy createdAt"}};
inline constexpr Typed<NameInvitation, Empty> delete_invitation{{
    .name = "deleteInvitation", .method = Method::delete_, .path = "/v1/invitations/{invitation}",
    .permission = Permission::user_write, .help = "Revoke an invitation.", .noun = "invitation", .verb = "delete"}};
inline constexpr Typed<AcceptInvitation, AcceptedInvitation> accept_invitation{{
    .name = "acceptInvitation", .method = Method::post, .path = "/v1/invitations/accept",
    .permission = Permission::self_write,
    .help = "Accept an invitation: become a user with a login and a password, or get the role as the signed-in user.",
    .status = 201, .open = true, .noun = "invitation", .verb = "accept",
    .example = "invitation accept --login ann@example.com --password"}};

}  // namespace hostler::api::ops
