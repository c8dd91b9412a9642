#include "cli/cli.h"

#include <fmt/format.h>

#include "cli/apply.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/completion.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/run.h"
#include "cli/run_job.h"

namespace hostler::cli {

namespace {

Exit exit_of(const Error& error) {
    switch (error.code) {
        case Code::invalid: return Exit::usage;
        case Code::unauthenticated:
        case Code::forbidden: return Exit::denied;
        case Code::not_found: return Exit::not_found;
        case Code::conflict: return Exit::conflict;
        case Code::exhausted: return Exit::capacity;
        case Code::unavailable: return Exit::unreachable;
        case Code::timeout: return Exit::timeout;
        case Code::cancelled:
        case Code::internal: return Exit::general;
    }
    broken("a code outside its enum", __FILE__, __LINE__);
}

Style style_of(const CliWorld& world, const Globals& globals, Format format) {
    return {
        .format = format,
        .colour = world.out_is_terminal && !globals.no_color && world.env("NO_COLOR").value_or("").empty(),
        .terminal = world.out_is_terminal,
        .columns = world.out_is_terminal ? world.columns : 0,
        .now = world.timers.wall()};
}

Connection flags_of(const Globals& globals) { return {globals.api, globals.key, globals.ca}; }

Task<> dispatch(std::vector<std::string> args, CliWorld& world, int& code) {
    CommandTree tree{world};
    if (!args.empty() && args.front() == "__complete") {
        args.erase(args.begin());
        co_return co_await complete(world, std::move(args));
    }
    std::string help;
    CO_TRY(tree.parse(std::move(args), help));
    if (!help.empty()) {
        world.out(help);
        co_return Result<>{};
    }
    if (tree.globals.version) {
        world.out(fmt::format("hostler {}\n", world.version));
        co_return Result<>{};
    }
    if (tree.local.completion->parsed()) {
        world.out(CO_TRY(completion_script(tree.local.shell)));
        co_return Result<>{};
    }
    const LoginCommands& people = tree.local.people;
    if (people.login->parsed()) co_return co_await login(world, flags_of(tree.globals), people);
    if (people.logout->parsed()) co_return co_await logout(world, flags_of(tree.globals));
    const Format format = CO_TRY(parse_format(tree.globals.output));
    if (const Command* chosen = tree.chosen();
        format == Format::html && !(chosen && is_report(*chosen->operation)))
        co_return fail(Code::invalid, "-o html: only reports are pages");
    auto known = connection(world, flags_of(tree.globals));
    // Of two things that are missing, an argument is named first: it is what was typed just now.
    if (const Command* chosen = tree.chosen(); !known && chosen) CO_TRY(check_given(*chosen));
    Connection found = CO_TRY(std::move(known));
    std::vector<Base> bases = CO_TRY(bases_of(found));
    if (tree.local.apply->parsed()) {
        ApiClient client{world, std::move(bases), found.key};
        co_return co_await apply(world, client, tree.local.files, style_of(world, tree.globals, format),
                                 tree.local.dry_run);
    }
    if (tree.local.remote.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        code = CO_TRY(co_await run_remote(world, client, found, tree.local.remote));
        co_return Result<>{};
    }
    if (tree.local.run.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        code = CO_TRY(co_await run_job(world, client, tree.local.run, style_of(world, tree.globals, format)));
        co_return Result<>{};
    }
    if (tree.local.top.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        co_return co_await run_top(world, client, tree.local.top, style_of(world, tree.globals, format));
    }
    if (tree.local.consolidate.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        co_return co_await run_consolidate(world, client, tree.local.consolidate,
                                           style_of(world, tree.globals, format), tree.globals.yes);
    }
    if (tree.local.audit_export.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        co_return co_await run_audit_export(world, client, tree.local.audit_export);
    }
    if (tree.local.kubeconfig.chosen()) {
        ApiClient client{world, std::move(bases), found.key};
        co_return co_await run_kubeconfig(world, client, found, tree.local.kubeconfig);
    }
    const Command* command = tree.chosen();
    HOSTLER_ASSERT(command);
    ApiClient client{world, std::move(bases), std::move(found.key)};
    code = CO_TRY(co_await run_operation(world, client, *command, style_of(world, tree.globals, format),
                                         tree.globals.yes));
    co_return Result<>{};
}

}  // namespace

Task<int> cli(std::vector<std::string> args, CliWorld& world) {
    int code = static_cast<int>(Exit::ok);
    const auto done = co_await dispatch(std::move(args), world, code);
    if (done) co_return code;
    print_error(world, done.error());
    co_return static_cast<int>(exit_of(done.error()));
}

int run_cli(int argc, const char* const* argv, CliWorld& world) {
    std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    std::optional<Result<int>> code;
    TaskGroup group{world.loop};
    group.start("cli", [](std::optional<Result<int>>& into, Task<int> task) -> Task<> {
        into.emplace(co_await std::move(task));
        co_return Result<>{};
    }(code, cli(std::move(args), world)));
    world.loop.restart();
    while (!code && world.loop.run_one() > 0) {
    }
    return code && *code ? **code : static_cast<int>(Exit::general);
}

}  // namespace hostler::cli
