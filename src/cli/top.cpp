#include "cli/top.h"
#include "api/operations_usage.h"
#include "api/operations_whoami.h"
#include "core/safe_text.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "api/codec.h"
#include "api/indent.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::cli {

namespace {

constexpr int page_size = 1000;
constexpr std::size_t rows_max = 100'000;

// All pages of a list.
template <class Item>
Task<std::vector<Item>> fetch(ApiClient& client, const api::Operation& operation, api::Params query) {
    std::vector<Item> all;
    std::string cursor;
    do {
        ApiCall call{.operation = &operation, .query = query};
        call.query.emplace_back("limit", std::to_string(page_size));
        if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
        const json::value page = CO_TRY(co_await client.call(std::move(call)));
        auto list = CO_TRY(api::decode_stored<api::List<Item>>(json::serialize(page)));
        std::ranges::move(list.items, std::back_inserter(all));
        cursor = list.next_cursor.value_or("");
    } while (!cursor.empty() && all.size() < rows_max);
    co_return all;
}

Task<Top> look(CliWorld& world, ApiClient& client, const TopCommand& command, bool operators) {
    api::Params query{{"live", "true"}};
    if (!command.zone.empty()) query.emplace_back("zone", command.zone);
    if (!command.host.empty()) query.emplace_back("host", command.host);
    Top top;
    if (operators && command.tenant.empty())
        top.hosts = CO_TRY(co_await fetch<api::HostUsage>(client, api::ops::list_host_usage, query));
    if (!command.tenant.empty()) query.emplace_back("tenantID", command.tenant);
    top.gpus = CO_TRY(co_await fetch<api::GpuUsage>(client, api::ops::list_gpu_usage, query));
    std::ranges::sort(top.gpus, {}, [](const api::GpuUsage& gpu) {
        return std::tuple(gpu.host_name, gpu.host, gpu.index);
    });
    std::ranges::sort(top.hosts, {},
                      [](const api::HostUsage& host) { return std::pair(host.name, host.id); });
    top.at = world.timers.wall();
    co_return top;
}

Result<std::string> as_json(const Top& top) {
    json::array hosts, gpus;
    for (const auto& host : top.hosts) hosts.push_back(TRY(api::parse_json(api::encode(host))));
    for (const auto& gpu : top.gpus) gpus.push_back(TRY(api::parse_json(api::encode(gpu))));
    return api::indented(json::object{{"hosts", std::move(hosts)}, {"gpus", std::move(gpus)}}) + "\n";
}

// The other screen of a terminal, without a cursor; what was there before comes back.
class Screen {
public:
    explicit Screen(CliWorld& world) : world_(world), raw_(world.raw_terminal()) {
        world_.out("\x1b[?1049h\x1b[?25l");
    }
    ~Screen() { world_.out("\x1b[?25h\x1b[?1049l"); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void draw(const Top& top, std::size_t first, bool colour) {
        const WindowSize size = world_.window_size().value_or(WindowSize{24, 80});
        const auto lines = top_lines(top, {size.rows, size.columns, colour, first});
        std::string text = "\x1b[H";
        for (std::size_t i = 0; i < lines.size() && std::cmp_less(i, size.rows); ++i)
            text += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
        world_.out(text + "\x1b[J");
    }

private:
    CliWorld& world_;
    std::shared_ptr<void> raw_;
};

struct Keys {
    bool leave = false;
    std::ptrdiff_t move = 0;
    Signal pressed;

    void take(std::string_view typed) {
        constexpr std::ptrdiff_t page = 10;
        if (typed.contains('q') || typed.contains('Q') || typed.contains('\x03')) leave = true;
        if (typed == "\x1b[A" || typed == "k") --move;
        if (typed == "\x1b[B" || typed == "j") ++move;
        if (typed == "\x1b[5~") move -= page;
        if (typed == "\x1b[6~" || typed == " ") move += page;
        pressed.notify_all();
    }
};

Task<> read_keys(Keys& keys, Stream& stdio) {
    char piece[64];
    while (true) {
        const auto size = co_await read_some(stdio, piece);
        if (!size && size.error().code == Code::cancelled) co_return std::unexpected(size.error());
        if (!size || *size == 0) {
            keys.take("q");
            co_return Result<>{};
        }
        keys.take({piece, *size});
    }
}

Task<> hear_signals(CliWorld& world, Keys& keys) {
    while (true) {
        if (CO_TRY(co_await world.next_signal()) != SIGWINCH) keys.leave = true;
        keys.pressed.notify_all();
    }
}

Task<> show_live(CliWorld& world, ApiClient& client, const TopCommand& command, const Style& style, Top top,
                 bool operators) {
    const StreamPtr stdio = world.stdio();
    Keys keys;
    std::size_t first = 0;
    TaskGroup tasks{world.loop};
    Result<> ended{};
    {
        Screen screen{world};
        tasks.start("keys", read_keys(keys, *stdio));
        if (world.next_signal) tasks.start("signals", hear_signals(world, keys));
        const auto interval = std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(std::max(command.interval_s, 0.2)));
        Instant next = world.timers.now() + interval;
        while (ended && !keys.leave) {
            const auto at = static_cast<std::ptrdiff_t>(first) + std::exchange(keys.move, 0);
            const std::size_t last = top.gpus.empty() ? 0 : top.gpus.size() - 1;
            first = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(at, 0)), last);
            screen.draw(top, first, style.colour);
            const Deadline due{world.timers, std::max(next - world.timers.now(), Duration{0}),
                               [&] { keys.pressed.notify_all(); }};
            ended = co_await keys.pressed.wait();
            if (!ended || keys.leave || world.timers.now() < next) continue;
            next = world.timers.now() + interval;
            if (auto seen = co_await look(world, client, command, operators))
                top = std::move(*seen);
            else if (seen.error().code == Code::cancelled)
                ended = std::unexpected(seen.error());
            else
                top.trouble = seen.error().message;
        }
    }
    (void)co_await tasks.close();
    co_return ended;
}

}  // namespace

void TopCommand::add(CLI::App& parent) {
    app = parent.add_subcommand("top", "Show what GPUs, hosts and instances do, as it changes.");
    app->add_option("--zone", zone, "Only this zone.")->type_name("TEXT");
    app->add_option("--host", host, "Only this host.")->type_name("TEXT");
    app->add_option("--tenant,--tenant-id", tenant, "Only what this tenant's instances hold.")
        ->type_name("TEXT");
    app->add_option("--interval", interval_s, "Seconds between two looks.")
        ->check(CLI::Range(0.2, 3600.0))
        ->type_name("NUMBER");
    app->footer(
        "q leaves, the arrows move. Without a terminal, and with -o json, it looks once. Example:\n"
        "  hostler top --zone nj");
    app->fallthrough()->allow_extras();
}

Task<> run_top(CliWorld& world, ApiClient& client, const TopCommand& command, const Style& style) {
    if (style.format != Format::table && style.format != Format::json)
        co_return fail(Code::invalid, "top prints table or json; `hostler gpu usage` prints all formats");
    const json::value answer = CO_TRY(co_await client.call({.operation = &api::ops::whoami}));
    const bool operators = CO_TRY(api::decode_stored<api::Whoami>(json::serialize(answer))).is_operator;
    const Top top = CO_TRY(co_await look(world, client, command, operators));
    if (style.format == Format::json) {
        world.out(safe_json(CO_TRY(as_json(top))));
        co_return Result<>{};
    }
    if (world.in_is_terminal && world.out_is_terminal && world.stdio && world.raw_terminal)
        co_return co_await show_live(world, client, command, style, top, operators);
    for (const std::string& line : top_lines(top, {0, style.columns, style.colour})) world.out(line + "\n");
    co_return Result<>{};
}

}  // namespace hostler::cli
