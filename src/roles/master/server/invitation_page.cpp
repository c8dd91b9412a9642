#include "roles/master/server/invitation_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/page.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/server/browser_page.h"
#include "roles/master/user/invitations.h"

namespace hostler::master {

namespace {

// One input of the form, with what is wrong with it below.
struct Input {
    std::string_view name, label, type, complete;
    std::string_view value{}, more{};
    std::string_view title;  // Of the field, in a complaint.
};

std::string input_of(const Input& input, std::span<const FieldError> wrong) {
    const auto found = std::ranges::find(wrong, input.name, &FieldError::path);
    std::string mark, alert;
    if (found != wrong.end()) {
        mark = fmt::format(R"( aria-invalid="true" aria-describedby="{}-wrong")", input.name);
        alert = fmt::format(R"(<p class="alert" id="{}-wrong" role="alert">{} {}.</p>)", input.name,
                            input.title, html_text(found->message));
    }
    return fmt::format(R"(<label for="{0}">{1}</label><input id="{0}" name="{0}" type="{2}" value="{3}" )"
                       R"(autocomplete="{4}"{5}{6}>{7})",
                       input.name, input.label, input.type, html_text(input.value), input.complete,
                       input.more, mark, alert);
}

std::string form_of(const InvitationPage& page) {
    const std::string password_label =
        fmt::format("Password, {} to {} bytes", password_size_min, password_size_max);
    std::string inputs = input_of({.name = "login",
                                   .label = "Login",
                                   .type = "text",
                                   .complete = "username",
                                   .value = page.login,
                                   .more = R"( autocapitalize="none" spellcheck="false" required)",
                                   .title = "The login"},
                                  page.wrong);
    inputs += input_of({.name = "name",
                        .label = "Your name, if you like",
                        .type = "text",
                        .complete = "name",
                        .value = page.name,
                        .title = "The name"},
                       page.wrong);
    inputs += input_of({.name = "password",
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
    const std::string api = html_text(page.api);
    const std::string commands = page.enrols ? fmt::format("hostler login --api {}\nhostler totp enrol", api)
                                             : fmt::format("hostler login --browser --api {}", api);
    const std::string_view second =
        page.enrols ? "<p>This cloud requires a second factor. Enrol it after you have signed in.</p>" : "";
    return html_of({.title = "You have joined",
                    .body = fmt::format("<p class=\"detail\">You are user {} now. You can close this "
                                        "page.</p><h2>Sign in at a command line</h2><pre>{}</pre>{}",
                                        html_text(page.login), commands, second)});
}

}  // namespace hostler::master
