// Where a browser's sign-in leads, and what it remembers between two of its pages.
#pragma once

#include <optional>
#include <string>

#include "http/server.h"
#include "roles/master/browser/one_time_forms.h"
#include "roles/master/leader/term.h"
#include "roles/master/sign_in/devices.h"

namespace hostler::master {

inline constexpr std::string_view gateway_target = "gateway:", device_target = "device:",
                                  console_target = "console:";

// As browser_sign_in.h says, checked.
struct Target {
    std::string text;
    std::string return_to;            // The instance's URL,
    std::string origin, path, route;  // and its parts. Of the console: `path`, and its `route`.
    std::optional<Device> device{};   // That waits.
    bool is_console() const { return text.starts_with(console_target); }
};
// Errors: invalid, not_found, exhausted (too_many_sign_ins), cancelled.
Task<Target> target_of(TermPtr term, std::string text, std::string address);
Task<> refuse_target(http::Exchange& exchange, const Error& why);

// A person whose password was right, and whose code is asked for.
struct CodeStep {
    std::string user;     // Login.
    std::string checked;  // The hash that the password was found to be of.
    std::string target;
    int tries = 5;  // That are left.
};
// A person who is authenticated, and is asked to allow a device.
struct ConfirmStep {
    std::string user;  // Id.
    std::string letters;
    std::function<void(Login&)> mark{};
};
struct BrowserSteps {
    OneTimeForms<CodeStep> codes;
    OneTimeForms<ConfirmStep> confirmations;
};
BrowserSteps& steps_of(Term& term);

// An error's message as a sentence of a page, and the status of that page.
std::string sentence(std::string_view message);
int status_of_page(const Error& why);

}  // namespace hostler::master
