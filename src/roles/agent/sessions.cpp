#include "roles/agent/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "ports/ended_process.h"
#include "proto/uplink.pb.h"

namespace hostler::agent {

namespace {

constexpr std::size_t id_bytes_min = 16;  // Whoever knows it is believed to be the one who began.
constexpr std::size_t id_bytes_max = 128;
constexpr std::size_t piece_bytes_max = 32 * 1024;
constexpr Duration end_repeat = std::chrono::seconds{1};

// A connection to a port: no command, but read and written like one.
class PortProcess final : public Process {
public:
    explicit PortProcess(StreamPtr stream) : stream_(std::move(stream)) {}
    ~PortProcess() override { stream_->close(); }
    Task<ProcessOutput> read(std::span<char> into) override {
        co_return ProcessOutput{CO_TRY(co_await read_some(*stream_, into))};
    }
    Task<> write(std::string_view bytes) override { return write_all(*stream_, bytes); }
    Task<> finish() override { return stream_->finish(); }
    Task<> resize(TerminalSize) override { co_return Result<>{}; }
    Task<> signal(std::string) override {
        stream_->close();
        co_return Result<>{};
    }
    Task<int> exit_code() override { co_return 0; }
    void close() override { stream_->close(); }

private:
    StreamPtr stream_;
};

std::string facts_text(const PathFacts& facts) {
    return fmt::format("{} {:o} {}\n{}\n{}\n",
                       facts.folder         ? "folder"
                       : facts.link.empty() ? "file"
                                            : "link",
                       facts.mode, facts.size, facts.name, facts.link);
}

TerminalSize size_of(std::string_view bytes) {
    const auto number = [&](std::size_t at) {
        return static_cast<std::uint16_t>(static_cast<std::uint8_t>(bytes[at]) << 8 |
                                          static_cast<std::uint8_t>(bytes[at + 1]));
    };
    return {number(0), number(2)};
}

ExecSpec exec_of(const uplink::TunnelOpen& wanted, const Workload& workload) {
    ExecSpec spec{.container = workload.container,
                  .command = {wanted.command().begin(), wanted.command().end()},
                  .user = wanted.user(),
                  .folder = wanted.folder(),
                  .terminal = wanted.terminal(),
                  .input = wanted.input(),
                  .size = {static_cast<std::uint16_t>(std::min(wanted.rows(), 65535U)),
                           static_cast<std::uint16_t>(std::min(wanted.columns(), 65535U))}};
    for (const auto& variable : wanted.environment()) spec.environment[variable.name()] = variable.value();
    return spec;
}

}  // namespace

struct Sessions::Session {
    Session(const Ports& ports, Activity& activity, const uplink::TunnelOpen& wanted)
        : id(wanted.session()),
          instance(wanted.instance()),
          principal(wanted.principal()),
          kind(wanted.kind()),
          terminal(wanted.terminal()),
          generation(wanted.generation()),
          user(activity, instance, what(wanted), counts(wanted)),
          talk(ports.loop, ports.timers, http::WebSocketSide::server, [] { return 0U; }),
          tasks(ports.loop) {}

    const std::string id, instance, principal, kind;
    const bool terminal;
    // A terminal is used when something is typed or shown; a command as long as it runs.
    static std::string what(const uplink::TunnelOpen& wanted) {
        if (wanted.kind() == "exec") return wanted.terminal() ? "terminal" : "command";
        return wanted.kind() == "port" ? "port" : "files";
    }
    static Activity::Counts counts(const uplink::TunnelOpen& wanted) {
        if (wanted.kind() == "port") return Activity::Counts::bytes;
        return wanted.kind() == "exec" && wanted.terminal() ? Activity::Counts::moving
                                                            : Activity::Counts::always;
    }
    const std::uint64_t generation;
    Activity::User user;
    http::Conversation talk;
    ProcessPtr process;          // Once it has begun.
    std::optional<Error> error;  // Why it did not begin.
    bool begun = false;          // Or failed to.
    bool input_over = false;     // The client has said all.
    bool unwanted = false;       // The client wants no more of it.
    bool output_over = false;
    bool told = false;              // The client knows how it ended.
    int connections = 0;            // One, or for a moment two when the second takes over.
    std::optional<Error> ended_by;  // Other than by the process itself.
    Signal changed;
    TaskGroup tasks;
};

Sessions::Sessions(const Settings& settings, const Ports& ports, const Workloads& workloads,
                   Activity& activity)
    : settings_(settings),
      ports_(ports),
      workloads_(workloads),
      activity_(activity),
      silent_(ports),
      tasks_(ports.loop) {}

Sessions::~Sessions() = default;

Task<> Sessions::close() {
    for (const auto& [id, session] : sessions_) {
        session->talk.close();
        session->tasks.cancel();
    }
    CO_TRY(co_await tasks_.close());
    sessions_.clear();
    co_return Result<>{};
}

// Only what runs, and exactly in that generation.
Result<const Workload*> Sessions::running(const uplink::TunnelOpen& wanted) const {
    const std::string& instance = wanted.instance();
    const Workload* found = workloads_.find(instance);
    if (!found || found->generation != wanted.generation())
        return fail(Code::not_found,
                    fmt::format("instance {} does not run on this host in generation {}", instance,
                                wanted.generation()),
                    "not_here");
    if (found->state != WorkloadState::running || workloads_.stopping(instance))
        return fail(Code::unavailable, fmt::format("instance {} is not running", instance), "not_running");
    return found;
}

Result<> Sessions::admit(const uplink::TunnelOpen& wanted) const {
    if (wanted.session().size() < id_bytes_min || wanted.session().size() > id_bytes_max)
        return fail(Code::invalid,
                    fmt::format("a session's id has {} to {} characters", id_bytes_min, id_bytes_max));
    if (wanted.resume())
        return fail(Code::not_found,
                    fmt::format("the session is over: its host keeps it for {} s without a connection",
                                std::chrono::duration_cast<seconds>(settings_.session_kept).count()),
                    "session_gone");
    const auto of_instance = std::ranges::count_if(
        sessions_, [&](const auto& one) { return one.second->instance == wanted.instance(); });
    if (static_cast<std::size_t>(of_instance) >= settings_.sessions_instance_max ||
        sessions_.size() >= settings_.sessions_max)
        return fail(
            Code::exhausted,
            fmt::format("{} sessions of the instance and {} of its host are open, which is the limit; "
                        "close some",
                        of_instance, sessions_.size()),
            "too_many_sessions");
    TRY(running(wanted));
    return {};
}

Task<Sessions::SessionPtr> Sessions::enter(uplink::TunnelOpen wanted) {
    SessionPtr session;
    if (const auto there = sessions_.find(wanted.session()); there != sessions_.end()) {
        session = there->second;
        // Whose it is not is told what everybody else is told.
        if (session->principal != wanted.principal() || session->instance != wanted.instance() ||
            session->generation != wanted.generation() || session->kind != wanted.kind())
            co_return fail(Code::not_found, "there is no such session", "session_gone");
    } else {
        CO_TRY(admit(wanted));
        session = std::make_shared<Session>(ports_, activity_, wanted);
        sessions_.emplace(session->id, session);
        tasks_.start("session", live(session, std::move(wanted)));
    }
    while (!session->begun) CO_TRY(co_await session->changed.wait());
    if (session->error) co_return std::unexpected(*session->error);
    co_return session;
}

Task<> Sessions::carry(SessionPtr session, StreamPtr stream) {
    ++session->connections;
    session->changed.notify_all();
    const auto ended = co_await session->talk.carry(std::move(stream));
    --session->connections;
    session->changed.notify_all();
    if (!ended && ended.error().code == Code::cancelled) co_return ended;
    co_return Result<>{};
}

void Sessions::instance_ended(const std::string& instance) {
    for (const auto& [id, session] : sessions_) {
        if (session->instance != instance || session->ended_by) continue;
        session->ended_by = Error{Code::unavailable, "the instance has ended", "not_running"};
        session->changed.notify_all();
    }
}

// The whole life of a session.
Task<> Sessions::live(SessionPtr session, uplink::TunnelOpen wanted) {
    auto process = co_await begin(wanted);
    session->begun = true;
    if (process)
        session->process = std::move(*process);
    else
        session->error = std::move(process.error());
    session->changed.notify_all();
    if (session->process) {
        session->tasks.start("session's output", put_out(session));
        session->tasks.start("session's input", take_in(session));
        (void)co_await watch(session);
        const auto ended = co_await finish_off(session);
        if (!ended && ended.error().code != Code::cancelled)
            log_warn("a session's command may still run in instance {}: {}", session->instance,
                     ended.error().message);
        session->process->close();
        (void)co_await session->tasks.close();
    }
    sessions_.erase(session->id);
    co_return Result<>{};
}

Task<ProcessPtr> Sessions::begin(const uplink::TunnelOpen& wanted) {
    const Workload workload = *CO_TRY(running(wanted));
    if (!ports_.exec && wanted.kind() != "port")
        co_return fail(Code::unavailable, "this host runs nothing that could be entered", "no_exec");
    if (wanted.kind() == "exec") co_return co_await ports_.exec->start(exec_of(wanted, workload));
    if (wanted.kind() == "port") co_return co_await dial_port(wanted, workload);
    if (wanted.kind() == "get") co_return co_await ports_.exec->read_files(workload.container, wanted.path());
    if (wanted.kind() == "put")
        co_return co_await ports_.exec->write_files(workload.container, wanted.path());
    if (wanted.kind() == "look") {
        const auto facts = CO_TRY(co_await ports_.exec->look(workload.container, wanted.path()));
        co_return std::make_unique<EndedProcess>(facts_text(facts), "it takes no input");
    }
    co_return fail(Code::invalid, fmt::format("this host's agent knows no session '{}'; it may be older than "
                                              "the rest",
                                              wanted.kind()));
}

// Any port: who may open a session may run a command that connects to it.
Task<ProcessPtr> Sessions::dial_port(const uplink::TunnelOpen& wanted, const Workload& workload) {
    if (wanted.port() == 0 || wanted.port() > 65535) co_return fail(Code::invalid, "that is no port");
    auto stream = co_await ports_.net.dial(fmt::format("{}:{}", workload.address, wanted.port()),
                                           settings_.tunnel_handshake / 2);
    if (!stream) {
        const auto port = static_cast<std::uint16_t>(wanted.port());
        const auto why = co_await silent_.why(workload.container, port);
        CO_TRY(co_await check_cancelled());
        const bool told = why && !why->empty();
        co_return fail(Code::unavailable,
                       fmt::format("nothing answers on port {} of the instance{}{}", port, told ? ": " : "",
                                   told ? *why : ""),
                       told ? "port_loopback" : "port_silent");
    }
    CO_TRY(running(wanted));
    co_return std::make_unique<PortProcess>(std::move(*stream));
}

Task<> Sessions::put_out(SessionPtr session) {
    const auto buffer = std::make_unique<char[]>(piece_bytes_max);
    while (true) {
        const auto wrote = co_await session->process->read({buffer.get(), piece_bytes_max});
        CO_TRY(co_await check_cancelled());
        if (!wrote || wrote->size == 0) break;
        session->user.moved(Activity::Bytes::out);
        CO_TRY(co_await session->talk.send(wrote->error ? http::Channel::error : http::Channel::output,
                                           {buffer.get(), wrote->size}));
    }
    if (session->kind == "port") {
        CO_TRY(co_await session->talk.send(http::Channel::end, ""));
        while (!session->input_over && !session->ended_by) CO_TRY(co_await session->changed.wait());
    }
    http::Exit exit;
    const auto code = co_await session->process->exit_code();
    CO_TRY(co_await check_cancelled());
    if (code)
        exit.code = *code;
    else
        exit = {.code = 1, .error = session->ended_by.value_or(code.error())};
    session->output_over = true;
    session->changed.notify_all();
    CO_TRY(co_await session->talk.send(http::Channel::exit, http::encode_exit(exit)));
    CO_TRY(co_await session->talk.acknowledged());
    session->told = true;
    session->changed.notify_all();
    co_return Result<>{};
}

Task<> Sessions::take_in(SessionPtr session) {
    bool reads = true;  // What it does not read any more is thrown away.
    while (true) {
        const http::Message message = CO_TRY(co_await session->talk.receive());
        Result<> done;
        switch (message.channel) {
            case http::Channel::input:
                session->user.moved(Activity::Bytes::in);
                if (reads && !session->input_over) done = co_await session->process->write(message.bytes);
                reads = reads && done;
                break;
            case http::Channel::end:
                if (session->input_over) break;
                if (reads) done = co_await session->process->finish();
                session->input_over = true;
                if (reads && session->terminal)
                    session->tasks.start("session's end of input", repeat_end(session));
                break;
            case http::Channel::resize:
                if (message.bytes.size() == 4)
                    done = co_await session->process->resize(size_of(message.bytes));
                break;
            case http::Channel::signal: done = co_await session->process->signal(message.bytes); break;
            case http::Channel::exit: session->unwanted = true; break;
            case http::Channel::output:
            case http::Channel::error:
            case http::Channel::acknowledge: break;
        }
        CO_TRY(co_await check_cancelled());
        if (!done) log_debug("session of instance {}: {}", session->instance, done.error().message);
        session->changed.notify_all();
    }
}

// The end of a terminal's input is a key, and a shell discards the keys that came before it set its terminal
// up: the key is pressed again until the command ends.
Task<> Sessions::repeat_end(SessionPtr session) {
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, end_repeat));
        if (session->output_over) break;
        const auto pressed = co_await session->process->finish();
        CO_TRY(co_await check_cancelled());
        if (!pressed) break;  // It reads no more.
    }
    co_return Result<>{};
}

// Until it has ended and the client knows, nobody has been connected for too long, or nobody wants it.
Task<> Sessions::watch(SessionPtr session) {
    std::optional<Deadline> alone, hurry;
    bool forgotten = false;
    while (!session->told && !session->unwanted && !forgotten) {
        if (session->connections > 0)
            alone.reset();
        else if (!alone)
            alone.emplace(ports_.timers, settings_.session_kept, [&] {
                forgotten = true;
                session->changed.notify_all();
            });
        // The end of a container ends what runs in it, which has a moment for its last words.
        if (session->ended_by && !hurry)
            hurry.emplace(ports_.timers, settings_.session_last_words, [&] { session->process->close(); });
        CO_TRY(co_await session->changed.wait());
    }
    co_return Result<>{};
}

// A command that nobody listens to any more hangs up, as with a terminal that is gone.
Task<> Sessions::finish_off(SessionPtr session) {
    session->talk.close();
    if (!session->output_over && !session->ended_by) {
        CO_TRY(co_await session->process->signal("HUP"));
        if (session->kind == "exec") CO_TRY(co_await sleep(ports_.timers, settings_.session_last_words));
        CO_TRY(co_await session->process->signal("KILL"));
    }
    co_return Result<>{};
}

}  // namespace hostler::agent
