#include "cli/remote.h"

#include <fmt/format.h>

#include <csignal>

#include "core/task_group.h"

namespace hostler::cli {

namespace {

constexpr std::size_t read_bytes_max = 16 * 1024;
constexpr int interrupted = 130;

std::string size_bytes(const WindowSize& size) {
    const auto high = [](int value) { return static_cast<char>(value >> 8 & 0xff); };
    return {high(size.rows), static_cast<char>(size.rows), high(size.columns),
            static_cast<char>(size.columns)};
}

std::string_view signal_name(int number) {
    switch (number) {
        case SIGINT: return "INT";
        case SIGHUP: return "HUP";
        case SIGQUIT: return "QUIT";
    }
    return "TERM";
}

// What was typed, until its end.
Task<> send_input(Session& session, Stream& stdio) {
    const auto buffer = std::make_unique<char[]>(read_bytes_max);
    while (true) {
        const auto size = co_await read_some(stdio, {buffer.get(), read_bytes_max});
        if (!size && size.error().code == Code::cancelled) co_return std::unexpected(size.error());
        if (!size || *size == 0) co_return co_await session.talk().send(http::Channel::end, "");
        CO_TRY(co_await session.talk().send(http::Channel::input, {buffer.get(), *size}));
    }
}

// A terminal's own keys make its signals; else they are sent on, and twice the same ends it here.
Task<> send_signals(CliWorld& world, Session& session, bool terminal, std::optional<int>& ended_by) {
    int before = 0;
    while (true) {
        const int number = CO_TRY(co_await world.next_signal());
        if (number == SIGWINCH) {
            const auto size = world.window_size();
            if (terminal && size)
                CO_TRY(co_await session.talk().send(http::Channel::resize, size_bytes(*size)));
            continue;
        }
        if (terminal || before == number) {
            ended_by = number;
            session.finish();
            co_return Result<>{};
        }
        before = number;
        CO_TRY(co_await session.talk().send(http::Channel::signal, std::string{signal_name(number)}));
    }
}

Task<int> receive_output(CliWorld& world, Session& session, Stream& stdio) {
    while (true) {
        const http::Message message = CO_TRY(co_await session.receive());
        if (message.channel == http::Channel::output) {
            const auto written = co_await write_all(stdio, message.bytes);
            if (!written && written.error().code == Code::cancelled)
                co_return std::unexpected(written.error());
            if (!written) co_return fail(Code::unavailable, "standard output was closed", "output_closed");
        }
        if (message.channel == http::Channel::error) world.err(message.bytes);
        if (message.channel != http::Channel::exit) continue;
        const http::Exit exit = CO_TRY(http::decode_exit(message.bytes));
        if (exit.error) co_return std::unexpected(*exit.error);
        co_return exit.code;
    }
}

std::vector<std::string> shell_command() {
    return {"/bin/sh", "-c", "[ -x /bin/bash ] && exec /bin/bash -l; exec /bin/sh -l"};
}

}  // namespace

void RemoteCommands::add(CLI::App& app) {
    ssh = app.add_subcommand("ssh", "Open a terminal in an instance.");
    ssh->footer("Without a command it is a shell of the image. Example:\n  hostler ssh notebook-1");
    exec = app.add_subcommand("exec", "Run a command in an instance.");
    exec->footer(
        "Its exit code is this command's. Example:\n  hostler exec notebook-1 -- nvidia-smi -L\n"
        "  tar c data | hostler exec notebook-1 -- tar x -C /data");
    forward = app.add_subcommand("port-forward", "Reach ports of an instance at ports of this machine.");
    forward->footer("Example:\n  hostler port-forward notebook-1 8888 5432:15432 0:22");
    proxy = app.add_subcommand("proxy", "Join standard input and output with a port of an instance.");
    proxy->footer(
        "For OpenSSH, with an image that runs a server of it:\n"
        "  ssh -o ProxyCommand='hostler proxy %h 22' root@notebook-1");
    copy = app.add_subcommand("cp", "Copy files and folders into an instance, or out of it.");
    copy->footer("Example:\n  hostler cp data notebook-1:/data\n  hostler cp notebook-1:/data/model.bin .");
    for (CLI::App* one : {ssh, exec, forward, proxy}) {
        one->add_option("NAME", name, "The instance.")->required();
    }
    for (CLI::App* one : {ssh, exec}) {
        one->add_option("-u,--user", user, "As whom; without it the image's user.")->type_name("USER");
        one->add_option("-w,--workdir", folder, "Where; without it the image's folder.")->type_name("PATH");
        one->add_option("-e,--env", variables, "A variable, NAME=VALUE; may be repeated.")
            ->type_name("NAME=VALUE")
            ->expected(1)
            ->allow_extra_args(false)
            ->take_all();
    }
    exec->add_flag("-t,--tty", terminal, "Give it a terminal.");
    exec->add_flag("-i,--stdin", input, "Send standard input, also when that is a terminal.");
    forward->add_option("PORT", ports, "[LOCAL:]REMOTE; LOCAL 0 is any that is free.")->required();
    proxy->add_option("PORT", port, "The port in the instance.")->required();
    copy->add_option("PATH", paths, "From and to; NAME:PATH is in the instance.")->required()->expected(2);
    for (CLI::App* one : {ssh, exec, forward, proxy, copy}) {
        one->add_option("--tenant,--tenant-id", tenant,
                        "Owning tenant; for an operator's key, when two tenants use the same name.")
            ->type_name("TENANT");
        one->fallthrough()->allow_extras();
    }
}

bool RemoteCommands::chosen() const {
    for (const CLI::App* one : {ssh, exec, forward, proxy, copy})
        if (one && one->parsed()) return true;
    return false;
}

void RemoteCommands::take_words(std::vector<std::string>& args) {
    const auto is_mine = [&] {
        for (const auto& word : args) {
            if (word == "ssh" || word == "exec") return true;
            if (word == "--") return false;
        }
        return false;
    };
    const auto at = std::find(args.begin(), args.end(), "--");
    if (at == args.end() || !is_mine()) return;
    words.assign(at + 1, args.end());
    args.erase(at, args.end());
}

Result<> RemoteCommands::refuse_words(const std::vector<std::string>& typed, const std::string& extra) const {
    const CLI::App* mine = ssh->parsed() ? ssh : exec->parsed() ? exec : nullptr;
    const auto at = std::find(typed.begin(), typed.end(), extra);
    if (!mine || at == typed.end() || !words.empty() || extra.starts_with('-') || name.empty()) return {};
    return fail(Code::invalid, fmt::format("the command stands behind --, as: hostler {} {} -- {}",
                                           mine->get_name(), name, fmt::join(at, typed.end(), " ")));
}

Task<int> run_remote(CliWorld& world, ApiClient& client, const Connection& connection,
                     const RemoteCommands& commands) {
    if (!world.stdio || !world.dice)
        co_return fail(Code::internal, "this program has no standard input and output");
    if (commands.copy->parsed())
        co_return co_await copy_files(world, client, connection, commands.tenant, commands.paths[0],
                                      commands.paths[1]);
    CO_TRY(check_ports(commands.ports));
    const Way way = CO_TRY(co_await way_to(client, connection, commands.name, commands.tenant));
    if (commands.forward->parsed()) co_return co_await forward_ports(world, way, commands.ports);
    if (commands.proxy->parsed()) co_return co_await proxy_port(world, way, commands.port);
    co_return co_await run_command(world, way, commands);
}

Task<int> run_command(CliWorld& world, const Way& way, const RemoteCommands& commands) {
    const bool ssh = commands.ssh->parsed();
    if (!ssh && commands.words.empty())
        co_return fail(Code::invalid, "exec needs a command behind --, as: hostler exec NAME -- ls -l");
    const bool on_terminal = world.in_is_terminal && world.out_is_terminal;
    const bool terminal = ssh ? on_terminal || commands.words.empty() : commands.terminal;
    const bool input = ssh || terminal || commands.input || !world.in_is_terminal;
    api::Params query;
    for (const auto& word : commands.words.empty() ? shell_command() : commands.words)
        query.emplace_back("command", word);
    for (const auto& variable : commands.variables) query.emplace_back("env", variable);
    if (!commands.user.empty()) query.emplace_back("user", commands.user);
    if (!commands.folder.empty()) query.emplace_back("folder", commands.folder);
    if (input) query.emplace_back("input", "true");
    if (terminal) {
        const auto size = world.window_size ? world.window_size() : std::nullopt;
        query.emplace_back("terminal", "true");
        query.emplace_back("rows", std::to_string(size ? size->rows : 24));
        query.emplace_back("columns", std::to_string(size ? size->columns : 80));
        query.emplace_back("env", "TERM=" + world.env("TERM").value_or("xterm"));
    }
    Session session{world, way, "exec", std::move(query)};
    CO_TRY(co_await session.open());
    const StreamPtr stdio = world.stdio();
    // Keys go through as they are typed, until this is left, however it is left.
    const auto raw = terminal && world.raw_terminal ? world.raw_terminal() : nullptr;
    std::optional<int> ended_by;
    TaskGroup tasks{world.loop};
    tasks.start("session", session.keep());
    if (input) tasks.start("input", send_input(session, *stdio));
    if (world.next_signal) tasks.start("signals", send_signals(world, session, terminal, ended_by));
    auto code = co_await receive_output(world, session, *stdio);
    session.finish();
    (void)co_await tasks.close();
    if (ended_by) co_return interrupted - SIGINT + *ended_by;
    if (!code && code.error().reason == "output_closed") co_return 128 + SIGPIPE;
    if (code && *code == 127 && ssh && commands.words.empty())
        world.err(fmt::format(
            "hostler: if the image has no /bin/sh, name a command of it: hostler ssh {} -- COMMAND\n",
            commands.name));
    co_return code;
}

}  // namespace hostler::cli
