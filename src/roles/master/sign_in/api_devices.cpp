// Programs that sign in through a browser.
#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "core/client_address.h"
#include "core/ip_address.h"
#include "domain/tenancy/device_code.h"
#include "roles/master/http/api.h"
#include "roles/master/sign_in/by_password.h"
#include "roles/master/sign_in/devices.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Task<api::DeviceSignIn> begin(Api& service, api::Call call, api::BeginDeviceSignIn request) {
    const TermPtr term = CO_TRY(service.leader());
    if (term->read_only()) co_return std::unexpected(*term->read_only());
    const Ports& ports = term->ports();
    const auto ip = ip_in(call.caller.address);
    Device device{.host = safe_user_agent(request.host.value_or("")),
                  .address = ip ? ip->bare_text() : call.caller.address,
                  .client = call.caller.client,
                  .from = client_of(call.caller.address)};
    const auto begun =
        CO_TRY(devices_of(*term).begin(std::move(device), ports.random, ports.digest, ports.timers.now()));
    const std::string code = shown_device_code(begun.letters);
    const std::string page = term->settings().public_url + "/sign-in/device";
    co_return api::DeviceSignIn{.device_code = begun.secret,
                                .user_code = code,
                                .verification_uri = page,
                                .verification_uri_complete = page + "?code=" + code,
                                .expires_in = device_life.count(),
                                .interval = device_interval.count()};
}

std::unexpected<Error> denied() {
    return fail(Code::conflict, "the user who confirmed may not sign in now", "access_denied");
}

Task<api::SignedIn> end(Api& service, api::Call call, api::EndDeviceSignIn request) {
    const TermPtr term = CO_TRY(service.leader());
    if (term->read_only()) co_return std::unexpected(*term->read_only());
    const Digest& digest = term->ports().digest;
    const Device device =
        CO_TRY(devices_of(*term).take(request.device_code, digest, term->ports().timers.now()));
    call.caller.actor = std::string{user_mark} + device.user;
    co_return co_await service.perform<std::remove_cvref_t<decltype(api::ops::end_device_sign_in)>>(
        [&digest, &device](Desk& desk, const api::Call& asked,
                           const api::EndDeviceSignIn&) -> Result<api::SignedIn> {
            const User* user = desk.estate.users.find(device.user);
            if (!user || user->disabled_at != 0 || !may_enter(desk, user->tenant)) return denied();
            const MadeLogin made = make_login(desk, device.user, asked.caller, digest);
            if (device.mark) device.mark(desk.estate.logins.edit(std::string{made.login->hash}));
            return session_made(desk, made);
        },
        std::move(call), std::move(request));
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::EndDeviceSignIn&) {
    const User* user = desk.estate.users.find(call.caller.actor.substr(user_mark.size()));
    return user ? subject_named(*user, "") : Subject{};
}

void add_devices(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::begin_device_sign_in>(
        [&service](api::Call call, api::BeginDeviceSignIn request) -> Task<api::DeviceSignIn> {
            return begin(service, std::move(call), std::move(request));
        });
    service.handlers().on<ops::end_device_sign_in>(
        [&service](api::Call call, api::EndDeviceSignIn request) -> Task<api::SignedIn> {
            return end(service, std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
