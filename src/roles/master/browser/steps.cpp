#include "roles/master/browser/steps.h"

#include "domain/tenancy/device_code.h"
#include "roles/master/browser/console.h"
#include "roles/master/browser/page.h"
#include "roles/master/browser/sign_in_page.h"
#include "roles/master/http/caller.h"
#include "roles/master/share/shares.h"

namespace hostler::master {

namespace {

Result<Target> gateway_target_of(const Desk& desk, std::string text) {
    Target to{.text = std::move(text)};
    to.return_to = to.text.substr(gateway_target.size());
    Result<Return> parsed = fail(Code::invalid, "there is no gateway yet");
    for (const auto& [name, gateway] : desk.estate.gateways.all())
        if (parsed = parse_return(to.return_to, gateway); parsed) break;
    if (!parsed) return std::unexpected(std::move(parsed).error());
    to.route = parsed->route;
    if (parsed->own_port > 0)
        for (const Instance* instance :
             desk.estate.instances.by().port.of(static_cast<std::uint32_t>(parsed->own_port)))
            for (const InstancePort& port : instance->spec.ports)
                if (port.own_port == parsed->own_port) to.route = route_name(*instance, port.port);
    if (to.route.empty()) return fail(Code::not_found, "no instance is at this address");
    to.origin = std::move(parsed->origin);
    to.path = std::move(parsed->path);
    return to;
}

}  // namespace

Task<Target> target_of(TermPtr term, std::string text, std::string address) {
    if (text.starts_with(gateway_target)) co_return gateway_target_of(term->look(), std::move(text));
    if (text.starts_with(console_target)) {
        const std::string path = safe_console_path(text.substr(console_target.size()));
        co_return Target{
            .text = std::string{console_target} + path, .path = path, .route = std::string{console_route}};
    }
    if (!text.starts_with(device_target))
        co_return fail(Code::invalid, "this link is incomplete; open the address again");
    Device device =
        CO_TRY(co_await waiting_device(term, text.substr(device_target.size()), std::move(address)));
    co_return Target{.text = std::string{device_target} + shown_device_code(device.letters),
                     .device = std::move(device)};
}

Task<> refuse_target(http::Exchange& exchange, const Error& why) {
    if (why.code == Code::cancelled) co_return std::unexpected(why);
    co_return co_await refuse_browser(exchange, status_of_page(why), why.message);
}

BrowserSteps& steps_of(Term& term) {
    return term.part<BrowserSteps>([] { return std::make_shared<BrowserSteps>(); });
}

std::string sentence(std::string_view message) {
    std::string text{message};
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    if (!text.empty() && !text.ends_with('.')) text += '.';
    return text;
}

// 403 for a wrong password: browsers take a 401 for a question of HTTP.
int status_of_page(const Error& why) {
    return why.code == Code::unauthenticated ? http_status(Code::forbidden) : http_status(why.code);
}

}  // namespace hostler::master
