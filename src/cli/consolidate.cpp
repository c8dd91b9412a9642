#include "cli/consolidate.h"

#include <fmt/format.h>

#include "api/operations_consolidation.h"
#include "cli/table.h"
#include "cli/values.h"

namespace hostler::cli {

namespace {

constexpr Duration look_again = std::chrono::seconds{1};

// How the moves of a plan are shown.
constexpr api::Typed<api::Empty, api::List<api::ConsolidationMove>> moves_table{{
    .name = "moves",
    .list = true,
    .columns = "kind name specName gpus fromName toName state tenantID message workload",
}};

const json::array& list_in(const json::value& plan, const char* name) {
    static const json::array none;
    const json::value* list = plan.is_object() ? plan.get_object().if_contains(name) : nullptr;
    return list && list->is_array() ? list->get_array() : none;
}

std::int64_t number_in(const json::value& plan, const char* name) {
    const json::value* number = plan.is_object() ? plan.get_object().if_contains(name) : nullptr;
    return number && number->is_int64() ? number->get_int64() : 0;
}

std::string counted(std::int64_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

class Consolidating {
public:
    Consolidating(CliWorld& world, ApiClient& client, const ConsolidateCommand& command, const Style& style)
        : world_(world), client_(client), command_(command), style_(style) {}

    Task<> run(bool yes) {
        const Duration patience = CO_TRY(parse_time(command_.timeout));
        const json::value plan = CO_TRY(co_await client_.call(
            {.operation = &api::ops::create_consolidation, .query = {{"dryRun", "true"}}, .body = wanted()}));
        show(plan);
        if (list_in(plan, "moves").empty()) {
            world_.err("no host could be freed by moving what may be moved\n");
            co_return Result<>{};
        }
        world_.err(gain(plan) + "\n");
        if (!yes) CO_TRY(confirm());
        json::object body = wanted();
        json::array moves;
        for (const json::value& move : list_in(plan, "moves"))
            moves.push_back(
                json::object{{"workload", text_of(move, "workload")}, {"to", text_of(move, "to")}});
        body["moves"] = std::move(moves);
        const json::value begun = CO_TRY(
            co_await client_.call({.operation = &api::ops::create_consolidation, .body = std::move(body)}));
        const std::string id = text_of(begun, "id");
        if (command_.wait) co_return co_await wait(id, patience);
        world_.err(fmt::format(
            "consolidation/{0} begun; `hostler consolidation get {0}` shows how far it is\n", id));
        co_return Result<>{};
    }

private:
    json::object wanted() const {
        json::object body{{"maxMoves", command_.max_moves}, {"atOnce", command_.at_once}};
        if (!command_.zone.empty()) body["zone"] = command_.zone;
        return body;
    }

    void show(const json::value& plan) {
        if (style_.format != Format::table && style_.format != Format::csv && style_.format != Format::name)
            return world_.out(render_object(api::ops::get_consolidation, plan, style_));
        const json::array& moves = list_in(plan, "moves");
        if (moves.empty()) return;
        if (style_.format != Format::table) return world_.out(render_list(moves_table, moves, style_));
        Table table{moves_table, style_};
        world_.out(table.rows(moves));
    }

    static std::string gain(const json::value& plan) {
        std::string names;
        for (const json::value& host : list_in(plan, "freedHosts"))
            names += (names.empty() ? "" : ", ") + text_of(host, "name");
        return fmt::format("{} with {} would be free ({}), for {}, {} of them restarts",
                           counted(static_cast<std::int64_t>(list_in(plan, "freedHosts").size()), "host"),
                           counted(number_in(plan, "gpus"), "GPU"), names,
                           counted(number_in(plan, "movesTotal"), "move"), number_in(plan, "restarts"));
    }

    Result<> confirm() {
        if (!world_.ask)
            return fail(Code::invalid,
                        "nothing was done: consolidate needs --yes here, as there is no terminal to ask on");
        const auto answer = world_.ask("Make these moves? [y/N] ", false);
        if (answer && (*answer == "y" || *answer == "Y" || *answer == "yes")) return {};
        return fail(Code::cancelled, "nothing was done");
    }

    Task<> wait(std::string id, Duration patience) {
        const Instant until = world_.timers.now() + patience;
        std::int64_t told = -1;
        while (true) {
            const json::value now = CO_TRY(co_await client_.call(
                {.operation = &api::ops::get_consolidation, .params = {{"consolidation", id}}}));
            const std::string state = text_of(now, "state");
            if (const std::int64_t done = number_in(now, "movesDone"); std::exchange(told, done) != done)
                world_.err(fmt::format("consolidation/{}: {} of {}\n", id, done,
                                       counted(number_in(now, "movesTotal"), "move")));
            if (state == "done") {
                world_.err(fmt::format("consolidation/{} is done\n", id));
                co_return Result<>{};
            }
            if (state == "failed" || state == "cancelled")
                co_return fail(Code::conflict,
                               fmt::format("consolidation {} is {}. {}", id, state, text_of(now, "message")));
            if (world_.timers.now() >= until)
                co_return fail(Code::timeout,
                               fmt::format("consolidation {} has not ended yet; it continues", id));
            CO_TRY(co_await sleep(world_.timers, look_again));
        }
    }

    CliWorld& world_;
    ApiClient& client_;
    const ConsolidateCommand& command_;
    Style style_;
};

}  // namespace

void ConsolidateCommand::add(CLI::App& parent) {
    app = parent.add_subcommand("consolidate", "Free whole hosts by moving what may be moved.");
    app->add_option("--zone", zone, "Only hosts of this zone. Default: all zones, each separately.")
        ->type_name("ZONE");
    app->add_option("--max-moves", max_moves, "Moves in all, at most.")
        ->type_name("NUMBER")
        ->capture_default_str();
    app->add_option("--at-once", at_once, "Maximum number of instances stopped at the same time.")
        ->type_name("NUMBER")
        ->capture_default_str();
    app->add_flag("--wait", wait, "Wait until it is over, and show how far it is.");
    app->add_option("--timeout", timeout, "How long to wait, as 90s, 10m or 1h.")
        ->type_name("TIME")
        ->capture_default_str();
    app->footer("Example:\n  hostler consolidate --zone lon --max-moves 20");
    app->fallthrough()->allow_extras();
}

Task<> run_consolidate(CliWorld& world, ApiClient& client, const ConsolidateCommand& command,
                       const Style& style, bool yes) {
    Consolidating consolidating{world, client, command, style};
    co_return co_await consolidating.run(yes);
}

}  // namespace hostler::cli
