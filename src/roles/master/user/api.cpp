// Users.
#include <fmt/format.h>

#include "api/operations_user.h"
#include "roles/master/http/people.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/letters.h"
#include "roles/master/user/roles.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

Result<> not_oneself(const Desk& desk, const api::Call& call, const User& user, std::string_view what) {
    if (user_of_call(desk, call) != &user) return {};
    return refuse(fmt::format("you cannot {} yourself", what), "own_user", "Ask another admin.");
}

Result<api::CreatedUser> decide_create_user(Desk& desk, const api::Call& call, const api::CreateUser& request,
                                            const Digest& digest) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    const User& made = *TRY(make_user(
        desk, {.login = request.login, .name = request.name, .email = request.email, .tenant = tenant}));
    api::CreatedUser answer{.id = made.id, .login = made.login, .tenant_id = made.tenant};
    answer.secret = make_password_link(desk, made.id, digest);
    answer.expires_at = wall(desk.estate.micros() + password_link_life_us);
    answer.link = link_to(desk.settings, password_page_path, answer.secret);
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return answer;
}

Result<api::CreatedPasswordLink> decide_password_link(Desk& desk, const api::Call& call,
                                                      const api::NameUser& request, const Digest& digest) {
    const User& user = *TRY(user_named(desk, call, request.user));
    if (user.disabled_at != 0)
        return refuse(fmt::format("user {} is disabled", user.login), "user_disabled",
                      "Enable the user first.");
    TRY(check_over(desk, call, user));
    api::CreatedPasswordLink answer{.user_id = user.id, .login = user.login};
    answer.secret = make_password_link(desk, user.id, digest);
    answer.expires_at = wall(desk.estate.micros() + password_link_life_us);
    answer.link = link_to(desk.settings, password_page_path, answer.secret);
    desk.estate.event("user", answer.user_id, user.tenant, "password_link",
                      fmt::format("A password link was created for user {}.", user.login));
    return answer;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameUser& request) {
    const auto found = user_named(desk, call, request.user);
    return found ? subject_named(**found, api::encode(view(**found))) : Subject{};
}
Subject subject_of(const Desk&, const api::Call&, const api::CreateUser&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateUser&,
                      const api::CreatedUser& made) {
    return subject_of(desk, call, api::NameUser{made.id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateUser& request) {
    return subject_of(desk, call, api::NameUser{request.user});
}

void add_users(Api& service) {
    namespace ops = api::ops;
    write_mailing<ops::create_user>(service, decide_create_user);
    write_mailing<ops::create_password_link>(service, decide_password_link);
    service.read<ops::list_users>([](const Desk& desk, const api::Call& call,
                                     const api::ListUsers& request) -> Result<api::List<api::User>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::User>(
                   desk.estate.users,
                   [&](const User& row) {
                       const bool disabled = row.disabled_at != 0;
                       return may(call, scope_of(row)) && (tenant.empty() || row.tenant == tenant) &&
                              (!request.state || disabled == (*request.state == api::UserState::disabled));
                   })
            .page(call, [](const User& row) { return view(row); });
    });
    service.read<ops::get_user>(
        [](const Desk& desk, const api::Call& call, const api::NameUser& request) -> Result<api::User> {
            return view(*TRY(user_named(desk, call, request.user)));
        });
    service.write<ops::update_user>(
        [](Desk& desk, const api::Call& call, const api::UpdateUser& request) -> Result<api::User> {
            const std::string id = TRY(user_named(desk, call, request.user))->id;
            User& user = desk.estate.users.edit(id);
            if (request.name) user.name = *request.name;
            if (request.email) user.email = *request.email;
            return view(user);
        });
    service.write<ops::disable_user>(
        [](Desk& desk, const api::Call& call, const api::NameUser& request) -> Result<api::User> {
            const User& user = *TRY(user_named(desk, call, request.user));
            TRY(not_oneself(desk, call, user, "disable"));
            const std::string id = user.id;
            TRY(keeping_admins(desk, tenants_of(desk, std::string{user_subject} + id),
                               [&] { disable_user(desk, id); }));
            return view(desk.estate.users.at(id));
        });
    service.write<ops::enable_user>(
        [](Desk& desk, const api::Call& call, const api::NameUser& request) -> Result<api::User> {
            const std::string id = TRY(user_named(desk, call, request.user))->id;
            TRY(check_over(desk, call, desk.estate.users.at(id)));
            enable_user(desk, id);
            return view(desk.estate.users.at(id));
        });
    service.write<ops::remove_user>(
        [](Desk& desk, const api::Call& call, const api::NameUser& request) -> Result<api::Empty> {
            const User& user = *TRY(user_named(desk, call, request.user));
            TRY(not_oneself(desk, call, user, "remove"));
            const std::string id = user.id;
            TRY(keeping_admins(desk, tenants_of(desk, std::string{user_subject} + id),
                               [&] { remove_user(desk, id); }));
            return api::Empty{};
        });
}

}  // namespace hostler::master
