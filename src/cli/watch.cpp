#include "cli/watch.h"

#include "api/codec.h"
#include "api/indent.h"
#include "cli/table.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

constexpr std::size_t change_max = 64 * 1024;  // Bytes of its JSON.

class WatchPrinter {
public:
    WatchPrinter(CliWorld& world, const api::Operation& operation, const Style& style)
        : world_(world),
          operation_(operation),
          style_(style),
          table_(operation, style, Table::More::follow) {}

    Result<bool> take(const ServerEvent& event) {
        if (event.name == "reset") {
            if (style_.format == Format::json)
                world_.out(api::compact(json::object{{"event", event.name}}) + "\n");
            else
                world_.err("some changes are missing: they are no longer kept\n");
        }
        if (event.name != "change") return true;
        json::value item = TRY(api::parse_json(event.data, change_max));
        if (style_.format == Format::json)
            world_.out(safe_json(api::compact(json::object{{"event", event.name}, {"item", item}})) + "\n");
        else if (style_.format == Format::name)
            world_.out(name_of(operation_.response(), item) + "\n");
        else
            world_.out(table_.rows({std::move(item)}));
        return true;
    }

private:
    CliWorld& world_;
    const api::Operation& operation_;
    Style style_;
    Table table_;
};

}  // namespace

Task<> run_watch(CliWorld& world, ApiClient& client, const api::Operation& operation, ApiCall call,
                 Style style) {
    if (style.format != Format::table && style.format != Format::json && style.format != Format::name)
        co_return fail(Code::invalid, "watch prints table, json or name");
    WatchPrinter printer{world, operation, style};
    std::string last_id;
    for (int tries = 0;; ++tries) {
        const std::string before = last_id;
        const auto watched = co_await client.watch(
            call, last_id, [&](ServerEvent event) -> Result<bool> { return printer.take(event); });
        if (before != last_id) tries = 0;
        const bool again = watched || watched.error().code == Code::unavailable;
        if (!again || tries >= watch_tries_max || (!watched && last_id.empty())) co_return watched;
        CO_TRY(co_await sleep(world.timers, std::chrono::milliseconds{500}));
    }
}

}  // namespace hostler::cli
