#include "cli/login.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "api/codec.h"
#include "api/operations_sign_in.h"
#include "api/operations_whoami.h"
#include "cli/browser_login.h"
#include "cli/client.h"
#include "cli/values.h"

namespace hostler::cli {

namespace {

constexpr std::string_view session_prefix = "hu_";

// The session of a person.
Task<api::SignedIn> sign_in(CliWorld& world, Connection to, std::string user, std::string from) {
    const std::string password =
        CO_TRY(hidden_text(from, fmt::format("Password of {}: ", user), "--password", world));
    ApiClient client{world, CO_TRY(bases_of(to)), ""};
    ApiCall call{.operation = &api::ops::sign_in, .body = {{"login", user}, {"password", password}}};
    auto answer = co_await client.call(call);
    if (!answer && answer.error().reason == "code_needed" && world.ask) {
        const auto code = world.ask("One-time code: ", false);
        if (!code || code->empty()) co_return fail(Code::cancelled, "no code was given");
        call.body["code"] = *code;
        answer = co_await client.call(std::move(call));
    }
    if (!answer) co_return std::unexpected(std::move(answer).error());
    co_return api::decode_stored<api::SignedIn>(json::serialize(*answer));
}

bool has_key(const CliWorld& world, const Connection& flags) {
    return !flags.key.empty() || !world.env("HOSTLER_KEY").value_or("").empty();
}

std::string whom(const api::Whoami& who) {
    if (who.actor.starts_with("user/")) return "to user " + who.name;
    return who.is_operator ? "to an operator" : "to tenant " + who.tenant_id;
}

}  // namespace

void LoginCommands::add(CLI::App& app) {
    login = app.add_subcommand("login",
                               "Sign in, and keep the API's address and the credential for later calls.");
    login->add_option("--user", user, "Login of a person. Default: asked for, unless a key is given.")
        ->type_name("LOGIN");
    login
        ->add_option("--password", password,
                     "@FILE or '-' for standard input: where the password is read. Default: asked for.")
        ->type_name("FROM");
    login->add_flag("--browser", browser, "Sign in with a browser, on this machine or another.");
    login->footer(
        "Examples:\n  hostler login --api https://gpu.example.com\n  hostler login --api "
        "https://gpu.example.com --browser\n  hostler login --api http://127.0.0.1:8080 --key KEY");
    logout = app.add_subcommand("logout", "End the session, and forget its credential.");
    logout->footer("Example:\n  hostler logout");
}

Task<> login(CliWorld& world, Connection flags, LoginCommands wish) {
    Connection found = CO_TRY(connection(world, flags));
    if (!wish.password.empty() && wish.user.empty())
        co_return fail(Code::invalid, "--password is for --user LOGIN");
    if (wish.browser && (!wish.user.empty() || !flags.key.empty()))
        co_return fail(Code::invalid, "--browser is instead of --user and --key");
    if (!wish.browser && wish.user.empty() && !has_key(world, flags) && world.ask) {
        const auto typed =
            world.ask(fmt::format("Login at {} (empty: sign in with the browser): ", found.api), false);
        if (!typed) co_return fail(Code::cancelled, "no login was given");
        wish.user = *typed;
        wish.browser = wish.user.empty();
    }
    bool needs_totp = false;
    if (wish.browser || !wish.user.empty()) {
        const auto session = wish.browser ? CO_TRY(co_await sign_in_by_browser(world, found))
                                          : CO_TRY(co_await sign_in(world, found, wish.user, wish.password));
        found.key = session.secret;
        needs_totp = session.needs_totp;
    }
    if (found.key.empty())
        co_return fail(Code::invalid,
                       "login needs --browser, --user LOGIN, --key KEY or HOSTLER_KEY, as there is no "
                       "terminal to ask on");
    ApiClient client{world, CO_TRY(bases_of(found)), found.key};
    const json::value who = CO_TRY(co_await client.call({.operation = &api::ops::whoami}));
    const auto whoami = CO_TRY(api::decode_stored<api::Whoami>(json::serialize(who)));
    const std::string path = config_path(world);
    CO_TRY(save_config(path, found));
    world.err(fmt::format("{} answers {}; kept in {}\n", found.api, whom(whoami), path));
    if (needs_totp)
        world.err("a second factor is required before anything else works: `hostler totp enrol`\n");
    co_return Result<>{};
}

Task<> logout(CliWorld& world, Connection flags) {
    Connection found = CO_TRY(connection(world, flags));
    if (found.key.empty())
        co_return fail(Code::invalid, "no credential is kept, so there is no session to end");
    if (found.key.starts_with(session_prefix)) {
        ApiClient client{world, CO_TRY(bases_of(found)), found.key};
        const auto done = co_await client.call({.operation = &api::ops::sign_out});
        if (!done && done.error().code != Code::unauthenticated)  // Else it had ended before.
            co_return std::unexpected(done.error());
        const std::string end = done ? text_of(*done, "endSessionUrl") : "";
        if (is_web_address(end))
            world.err(fmt::format("to sign out of your identity provider, too, open {}\n", end));
    }
    if (has_key(world, flags)) {
        world.err(fmt::format("signed out of {}\n", found.api));
        co_return Result<>{};
    }
    const std::string path = config_path(world);
    CO_TRY(save_config(path, {.api = found.api, .ca = found.ca}));
    world.err(fmt::format("signed out of {}; the credential is gone from {}\n", found.api, path));
    co_return Result<>{};
}

}  // namespace hostler::cli
