// The pages where a person signs in to open an instance in a browser, or to let a command line sign in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "domain/inventory/zone.h"
#include "roles/master/browser/sign_in.h"
#include "roles/master/sign_in/devices.h"

namespace hostler::master {

enum class SignInWay { password, key };

struct SignInPage {
    std::string_view target;  // As forms carry it.
    std::string_view opens;   // The URL that is opened; empty: a device signs in, or the console is opened.
    const Device* device = nullptr;
    bool console = false;  // It is the console that is opened.
    std::span<const SignInChoice> choices{};
    std::string_view complaint{};
    std::string_view login{};             // As it was typed.
    SignInWay way = SignInWay::password;  // What the complaint is about.
};
std::string sign_in_page(const SignInPage& page);
// The second step. `step`: the name of the form.
std::string code_page(std::string_view step, std::string_view complaint);
std::string device_code_page(std::string_view typed, std::string_view complaint);
std::string confirm_page(const Device& device, const User& user, std::string_view form);
// The end of it, or of what cannot be.
enum class NoticeTone { good, bad };
std::string sign_in_notice(std::string_view title, std::string_view text, NoticeTone tone);

// The route that `return_to` opens, if it is an address of one of the gateways: their addresses are the only
// places to which a code is ever sent. Errors: invalid.
struct Return {
    std::string origin;  // "http://8080-i-7f3k.localhost:8443"
    std::string path;    // "/lab?x=1"
    std::string route;   // "8080-i-7f3k"; empty: by its own port,
    int own_port = 0;    // which is this.
};
Result<Return> parse_return(std::string_view return_to, const Gateway& gateway);

}  // namespace hostler::master
