#include "roles/master/browser/sign_in_page.h"

#include <fmt/format.h>

#include <charconv>

#include "core/page.h"
#include "core/percent.h"
#include "domain/tenancy/device_code.h"
#include "roles/master/browser/page.h"

namespace hostler::master {

namespace {

// "hostler/0.1.0 on laptop (203.0.113.7)"
std::string name_of(const Device& device) {
    const std::string client = device.client.empty() ? "a program without a name" : device.client;
    const std::string host = device.host.empty() ? "" : fmt::format(" on {}", device.host);
    return fmt::format("{}{} ({})", client, host, device.address);
}

std::string aim_of(const SignInPage& page) {
    if (page.console) return "<p>to open the console</p>";
    if (!page.device) return fmt::format("<p>to open <code>{}</code></p>", html_text(page.opens));
    return fmt::format(
        "<p>to let <code>{}</code> sign in as you</p><p>Compare the code with the one at your command line: "
        "<code>{}</code></p>",
        html_text(name_of(*page.device)), shown_device_code(page.device->letters));
}

std::string password_form(const SignInPage& page) {
    const std::string_view login_focus = page.login.empty() ? " autofocus" : "";
    const std::string_view password_focus = page.login.empty() ? "" : " autofocus";
    return fmt::format(
        R"(<form method="post" action="{}">{}<label for="login">Login</label>)"
        R"(<input id="login" name="login" type="text" value="{}" autocomplete="username" autocapitalize="none" )"
        R"(spellcheck="false" required{}><label for="password">Password</label>)"
        R"(<input id="password" name="password" type="password" autocomplete="current-password" required{}>)"
        R"(<button id="sign-in">Sign in</button></form>)",
        sign_in_path, hidden_field("target", page.target), html_text(page.login), login_focus,
        password_focus);
}

std::string choices_of(const SignInPage& page) {
    std::string links;
    for (const SignInChoice& choice : page.choices)
        links += fmt::format(R"(<p><a class="go" href="{}?target={}">{}</a></p>)", html_text(choice.path),
                             percent_encode(page.target), html_text(choice.label));
    return links;
}

std::string key_form(const SignInPage& page) {
    const bool is_open = page.way == SignInWay::key && !page.complaint.empty();
    return fmt::format(
        R"(<details{}><summary>Use a key</summary><form method="post" action="{}">{})"
        R"(<label for="key">API key, which begins with <code>hk_</code></label>)"
        R"(<input id="key" name="key" type="password" autocomplete="off" required>)"
        R"(<button id="use-key">Open</button></form><p>An operator makes a key with )"
        R"(<code>hostler key create NAME --tenant TENANT</code> and gives it to you.</p></details>)",
        is_open ? " open" : "", sign_in_path, hidden_field("target", page.target));
}

}  // namespace

std::string sign_in_page(const SignInPage& page) {
    std::string body = aim_of(page) + alert_of(page.complaint) + password_form(page) + choices_of(page);
    if (!page.device) body += key_form(page);
    return html_of({.title = "Sign in", .body = body});
}

std::string code_page(std::string_view step, std::string_view complaint) {
    return html_of(
        {.title = "One-time code",
         .body = fmt::format(
             R"(<p>The password is right. Type the code that your authenticator program shows now, or a )"
             R"(recovery code.</p>{}<form method="post" action="{}">{}<label for="code">Code</label>)"
             R"(<input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="none" )"
             R"(spellcheck="false" required autofocus><button id="sign-in">Sign in</button></form>)",
             alert_of(complaint), sign_in_path, hidden_field("step", step))});
}

std::string device_code_page(std::string_view typed, std::string_view complaint) {
    return html_of(
        {.title = "Sign in a command line",
         .body = fmt::format(
             R"(<p>Type the code that your command line shows.</p>{}<form method="get" action="{}">)"
             R"(<label for="code">Code</label><input id="code" name="code" type="text" value="{}" )"
             R"(autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="BCDF-GHJK" )"
             R"(required autofocus><button>Continue</button></form>)",
             alert_of(complaint), device_path, html_text(typed))});
}

std::string confirm_page(const Device& device, const User& user, std::string_view form) {
    const std::string client = name_of(device);
    return html_of(
        {.title = "Allow this sign-in?",
         .body = fmt::format(
             R"(<p class="detail">{} wants to sign in as {}.</p><p>It can then do all that you may do, until )"
             R"(you end its session. Allow it only if you began this sign-in yourself, a moment ago, on that )"
             R"(machine, and it shows the code <code>{}</code>. A link that another person sent you is an )"
             R"(attempt to use your account.</p><form method="post" action="{}">{})"
             R"(<button id="allow" name="answer" value="allow">Allow</button> )"
             R"(<button id="deny" class="second" name="answer" value="deny">Deny</button></form>)",
             html_text(client), html_text(user.login), shown_device_code(device.letters), device_path,
             hidden_field("form", form)),
         .tone = "busy"});
}

std::string sign_in_notice(std::string_view title, std::string_view text, NoticeTone tone) {
    return html_of({.title = title,
                    .body = fmt::format("<p class=\"detail\">{}</p>", html_text(text)),
                    .tone = tone == NoticeTone::bad ? "bad" : "calm"});
}

Result<Return> parse_return(std::string_view return_to, const Gateway& gateway) {
    const auto wrong = [] {
        return fail(Code::invalid, "this address is not one of this cloud's instances", "return_unknown");
    };
    const auto scheme_end = gateway.address.find("://");
    if (scheme_end == std::string::npos) return wrong();
    const std::string_view scheme = std::string_view{gateway.address}.substr(0, scheme_end + 3);
    const std::string_view at = std::string_view{gateway.address}.substr(scheme_end + 3);
    const std::string_view port = at.rfind(':') == at.npos ? "" : at.substr(at.rfind(':'));
    if (return_to.size() > 4096 || !return_to.starts_with(scheme)) return wrong();
    for (const char c : return_to)
        if (static_cast<unsigned char>(c) <= ' ' || c == '\\' || c == '"' || c == '<' || c == '>')
            return wrong();
    std::string_view rest = return_to.substr(scheme.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    Return result{.origin = std::string{scheme} + std::string{authority},
                  .path = rest.starts_with('/') ? std::string{rest} : "/"};
    if (gateway.domain.empty()) {
        const std::string_view name = at.substr(0, at.rfind(':'));
        if (!authority.starts_with(name) || authority.size() <= name.size() || authority[name.size()] != ':')
            return wrong();
        const std::string_view digits = authority.substr(name.size() + 1);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), result.own_port);
        if (error != std::errc{} || end != digits.data() + digits.size() || result.own_port < 1 ||
            result.own_port > 65535)
            return wrong();
        return result;
    }
    const std::string suffix = fmt::format(".{}{}", gateway.domain, port);
    if (!authority.ends_with(suffix) || authority.size() == suffix.size()) return wrong();
    result.route = authority.substr(0, authority.size() - suffix.size());
    for (const char c : result.route)
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return wrong();
    return result;
}

}  // namespace hostler::master
