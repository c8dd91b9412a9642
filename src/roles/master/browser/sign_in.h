// How a browser signs in: the pages below /sign-in, for instances behind a gateway and for the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "http/server.h"
#include "roles/master/http/api.h"

namespace hostler::master {

inline constexpr std::string_view sign_in_path = "/sign-in";
inline constexpr std::string_view device_path = "/sign-in/device";

// Where a sign-in leads, as forms and links of the pages carry it: "gateway:https://8080-i-1.example/lab" or
// "device:BCDF-GHJK", "console:/console/instances". It comes back from browsers, so it is checked each time.

// A way to sign in beside the password: a button of the page. It leads to `path`?target=TARGET.
struct SignInChoice {
    std::string label;  // "Sign in with Example"
    std::string path;   // "/sign-in/oidc/example"
};
// Those that the page shows for this target.
std::vector<SignInChoice> sign_in_choices(const Term& term, std::string_view target);

struct BrowserExtras {
    // Called with the row of the session when it is made, to note in it how the user was authenticated.
    std::function<void(Login&)> mark{};
};

// For a user who has been authenticated a moment ago: makes the session and leads to `target`, or asks the
// user to confirm the command line that waits. What is wrong is answered with a page. Whoever calls it has
// written the sign-in to the audit. Errors: those of the connection and of the commit.
Task<> finish_browser(http::Exchange& exchange, TermPtr term, std::string user_id, std::string target,
                      BrowserExtras extras = {});

// A page that says why there is no sign-in: `complaint` is a sentence.
Task<> refuse_browser(http::Exchange& exchange, int status, std::string complaint);

// Answers sign_in_path and device_path.
Task<> answer_browser_sign_in(http::Exchange& exchange, Api& api);

}  // namespace hostler::master
