#include "roles/master/browser/invitation_page.h"

#include <fmt/format.h>

#include "core/page.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/browser/page.h"
#include "roles/master/user/invitations.h"

namespace hostler::master {

namespace {

std::string form_of(const InvitationPage& page) {
    const std::string password_label =
        fmt::format("Password, {} to {} bytes", password_size_min, password_size_max);
    std::string inputs = form_input({.name = "login",
                                     .label = "Login",
                                     .type = "text",
                                     .complete = "username",
                                     .value = page.login,
                                     .more = R"( autocapitalize="none" spellcheck="false" required)",
                                     .title = "The login"},
                                    page.wrong);
    inputs += form_input({.name = "name",
                          .label = "Your name, if you like",
                          .type = "text",
                          .complete = "name",
                          .value = page.name,
                          .title = "The name"},
                         page.wrong);
    inputs += form_input({.name = "password",
                          .label = password_label,
                          .type = "password",
                          .complete = "new-password",
                          .more = " required",
                          .title = "The password"},
                         page.wrong);
    return fmt::format(R"(<form method="post" action="{}">{}{}<button id="join">Join</button></form>)",
                       invitation_path, hidden_field("secret", page.secret), inputs);
}

// No user is linked here: only a session of that user can do it.
std::string known_user_part(const InvitationPage& page) {
    return fmt::format(
        "<details><summary>I already have an account</summary><p>Sign in at a command line, and accept the "
        "invitation there:</p><pre>hostler login --api {0}\nhostler invitation accept --api {0}</pre><p>It "
        "asks for this secret: <code>{1}</code></p></details>",
        html_text(page.api), html_text(page.secret));
}

}  // namespace

std::string aim_of(const Invitation& invitation) {
    if (!invitation.provider.empty())
        return fmt::format("Join as {} for the hosts of {}", invitation.role, invitation.provider);
    if (invitation.tenant.empty()) return fmt::format("Join the cloud as {}", invitation.role);
    const std::string project =
        invitation.project.empty() ? "" : fmt::format(" of project {}", invitation.project);
    return fmt::format("Join tenant {} as {}{}", invitation.tenant, invitation.role, project);
}

std::string invitation_page(const InvitationPage& page) {
    const std::string aim = aim_of(page.invitation);
    return html_of({.title = aim,
                    .body = fmt::format("<p>{} invites you to the GPU cloud <code>{}</code>. Choose a login "
                                        "and a password.</p>{}{}{}",
                                        html_text(page.inviter), html_text(page.api),
                                        alert_of(page.complaint), form_of(page), known_user_part(page))});
}

std::string accepted_page(const AcceptedPage& page) {
    return html_of({.title = "You have joined",
                    .body = fmt::format("<p class=\"detail\">You are user {} now. You can close this "
                                        "page.</p>{}",
                                        html_text(page.login), next_part(page.api, page.enrols))});
}

std::string next_part(std::string_view of_api, bool enrols) {
    const std::string api = html_text(of_api);
    const std::string commands = enrols ? fmt::format("hostler login --api {}\nhostler totp enrol", api)
                                        : fmt::format("hostler login --browser --api {}", api);
    const std::string_view second =
        enrols ? "<p>This cloud requires a second factor. Enrol it after you have signed in.</p>" : "";
    return fmt::format("<h2>Sign in at a command line</h2><pre>{}</pre>{}", commands, second);
}

}  // namespace hostler::master
