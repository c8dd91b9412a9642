#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_sign_in.h"

HOSTLER_JSON(hostler::api::SignIn)
HOSTLER_JSON(hostler::api::SignedIn)
HOSTLER_JSON(hostler::api::SignedOut)
HOSTLER_JSON(hostler::api::BeginDeviceSignIn)
HOSTLER_JSON(hostler::api::DeviceSignIn)
HOSTLER_JSON(hostler::api::EndDeviceSignIn)
HOSTLER_JSON(hostler::api::ConsoleLink)
HOSTLER_JSON(hostler::api::Session)
HOSTLER_JSON(hostler::api::ListSessions)
HOSTLER_JSON(hostler::api::NameSession)
HOSTLER_JSON(hostler::api::ChangePassword)
HOSTLER_JSON(hostler::api::ResetPassword)
HOSTLER_JSON(hostler::api::EnrolledTotp)
HOSTLER_JSON(hostler::api::ConfirmTotp)
HOSTLER_JSON(hostler::api::ConfirmedTotp)
HOSTLER_JSON(hostler::api::RemoveTotp)
HOSTLER_JSON(hostler::api::List<hostler::api::Session>)

namespace hostler::api {

ApiArea sign_in_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &sign_in,
        &begin_device_sign_in,
        &end_device_sign_in,
        &sign_out,
        &create_console_link,
        &list_sessions,
        &revoke_session,
        &change_password,
        &reset_password,
        &enrol_totp,
        &confirm_totp,
        &remove_totp,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"session", "Sessions of people who have signed in."},
        {"console", "The console, in a browser."},
        {"password", "Passwords."},
        {"totp", "Second factors with one-time codes."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
