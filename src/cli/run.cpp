#include "cli/run.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/indent.h"
#include "api/operations_audit.h"
#include "api/operations_cluster.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_job.h"
#include "api/operations_key.h"
#include "api/operations_long_operation.h"
#include "api/operations_whoami.h"
#include "cli/audit.h"
#include "cli/follow_job.h"
#include "cli/render.h"
#include "cli/request.h"
#include "cli/table.h"
#include "cli/values.h"
#include "cli/wait.h"
#include "cli/watch.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

constexpr std::size_t items_max = 1'000'000;  // Of a list that is fetched page by page.
constexpr int page_size = 1000;
constexpr int follow_tries_max = 60;  // In a row, each two seconds apart.
// Between questions for further lines of a log.
constexpr Duration follow_pause_min = std::chrono::milliseconds{500};
constexpr Duration follow_pause_max = std::chrono::seconds{2};

std::string participle(std::string_view verb) {
    if (verb == "stop") return "stopped";
    if (verb == "set") return "set";
    if (verb == "cancel") return "cancelled";
    if (verb == "submit") return "submitted";
    if (verb == "hold") return "held";
    if (verb == "admit") return "admitted";
    if (verb == "forget") return "forgotten";
    if (verb == "keep-alive") return "kept alive";
    if (verb == "reset") return "reset";
    if (verb == "create-key") return "key created";
    if (verb == "begin-device") return "sign-in begun";
    if (verb == "end-device") return "created";
    if (verb == "password-link") return "password link created";
    if (verb == "ticket") return "ticket created";
    if (verb == "save") return "save begun";
    if (verb == "delete-save") return "is being deleted";
    if (verb == "restore") return "created";
    if (verb.ends_with('e')) return std::string(verb) + "d";
    return std::string(verb) + "ed";
}

// "instance/notebook-1": what a command is about.
std::string subject_of(const Command& command, const ApiCall& call) {
    std::string name;
    if (!call.params.empty()) name = call.params.front().second;
    const std::string argument{command.operation->argument};
    if (const json::value* value = call.body.if_contains(argument); value && value->is_string())
        name = std::string(value->get_string());
    for (const auto& [key, value] : call.query)
        if (key == argument) name = value;
    return name.empty() ? std::string(command.operation->noun)
                        : fmt::format("{}/{}", command.operation->noun, name);
}

// One command against the API.
class Run {
public:
    Run(CliWorld& world, ApiClient& client, const Command& command, const Style& style, bool yes)
        : world_(world),
          client_(client),
          command_(command),
          operation_(*command.operation),
          style_(style),
          yes_(yes) {}

    Task<> perform() {
        ApiCall call = CO_TRY(to_call(command_, world_));
        patience_ = CO_TRY(parse_time(command_.timeout));
        client_.again_for(patience_);
        CO_TRY(confirm(call));
        if (needs_tenant(command_, call)) CO_TRY(co_await fill_tenant(call));
        if (!command_.query.empty()) call.query.emplace_back("query", command_.query);
        if (command_.watch) co_return co_await watch(std::move(call));
        if (operation_.stream)
            co_return co_await run_watch(world_, client_, operation_, std::move(call), style_);
        if (operation_.list) co_return co_await list(std::move(call));
        if (&operation_ == &api::ops::get_instance_logs && set(call.query, "follow", "true"))
            co_return co_await follow(std::move(call));
        if (&operation_ == &api::ops::get_job_logs && set(call.query, "follow", "true"))
            co_return co_await follow_task(std::move(call));
        if (&operation_ == &api::ops::verify_audit)
            co_return co_await run_audit_verify(world_, client_, std::move(call), style_);
        const json::value answer = CO_TRY(co_await client_.call(call));
        co_return co_await show(std::move(call), answer);
    }

    int code() const { return code_; }

private:
    Result<> confirm(const ApiCall& call) {
        if (operation_.confirm.empty() || yes_ || command_.dry_run) return {};
        const std::string what = fmt::format("{} {}", operation_.verb, subject_of(command_, call));
        if (!world_.ask)
            return fail(Code::invalid,
                        fmt::format("{} needs --yes here, as there is no terminal to ask on. {}", what,
                                    operation_.confirm));
        const auto answer = world_.ask(fmt::format("{}? {} [y/N] ", what, operation_.confirm), false);
        if (answer && (*answer == "y" || *answer == "Y" || *answer == "yes")) return {};
        return fail(Code::cancelled, "nothing was done");
    }

    // A tenant's key need not say whose it is.
    Task<> fill_tenant(ApiCall& call) {
        const json::value who = CO_TRY(co_await client_.call({.operation = &api::ops::whoami}));
        const json::value* tenant = who.is_object() ? who.get_object().if_contains("tenantID") : nullptr;
        if (!tenant || !tenant->is_string() || tenant->get_string().empty()) {
            Error error{.code = Code::invalid, .message = "the command is not complete, or wrong"};
            error.fields.push_back({"--tenant-id", "is required with an operator's key"});
            co_return std::unexpected(std::move(error));
        }
        call.body["tenantID"] = *tenant;
        co_return Result<>{};
    }

    Task<> list(ApiCall call) {
        json::array items;
        std::string cursor = command_.cursor;
        if (!command_.order.empty()) call.query.emplace_back("order", command_.order);
        const auto base = call.query;
        for (;;) {
            const int left = command_.limit > 0 ? command_.limit - static_cast<int>(items.size()) : page_size;
            call.query = base;
            call.query.emplace_back("limit", std::to_string(std::min(left, page_size)));
            if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
            json::value page = CO_TRY(co_await client_.call(call));
            const json::value* more = page.is_object() ? page.get_object().if_contains("items") : nullptr;
            if (!more || !more->is_array())
                co_return fail(Code::internal, "the API's list has no items", "not_our_api");
            for (const json::value& item : more->get_array()) items.push_back(item);
            const json::value* next = page.get_object().if_contains("nextCursor");
            cursor = next && next->is_string() ? std::string(next->get_string()) : "";
            const bool enough =
                command_.limit > 0 && items.size() >= static_cast<std::size_t>(command_.limit);
            if (cursor.empty() || enough || items.size() >= items_max) break;
        }
        if (style_.format != Format::table) {
            world_.out(render_list(operation_, items, style_));
        } else if (items.empty()) {
            const std::string near = CO_TRY(co_await near_tenant(base));
            world_.err(fmt::format("no {}{}\n", plural(), near));
        } else {
            Table table{operation_, style_};
            world_.out(table.rows(items));
            tell_left_out(table);
        }
        if (!cursor.empty()) world_.err(fmt::format("there are more: --cursor {}\n", cursor));
        co_return Result<>{};
    }

    // "; is tenant acme meant?" when the list is of a tenant that no key is of: operators mistype.
    Task<std::string> near_tenant(const api::Params& query) {
        const auto of = std::ranges::find(query, "tenantID", &std::pair<std::string, std::string>::first);
        if (of == query.end() || &operation_ == &api::ops::list_api_keys) co_return std::string{};
        auto keys =
            co_await client_.call({.operation = &api::ops::list_api_keys, .query = {{"limit", "1000"}}});
        if (!keys) co_return std::string{};
        const auto list = api::decode_stored<api::List<api::ApiKey>>(json::serialize(*keys));
        if (!list) co_return std::string{};
        std::vector<std::string_view> tenants;
        for (const api::ApiKey& key : list->items) tenants.push_back(key.tenant_id);
        if (std::ranges::find(tenants, of->second) != tenants.end()) co_return std::string{};
        const auto meant = api::nearest(of->second, tenants);
        if (meant.empty()) co_return std::string{};
        co_return fmt::format("; no key is of tenant {}; did you mean {}?", of->second, meant);
    }

    void tell_left_out(const Table& table) {
        if (!table.left_out().empty())
            world_.err(fmt::format("no room here for: {}\n", fmt::join(table.left_out(), ", ")));
    }

    // "host tokens" of listHostTokens.
    std::string plural() const {
        std::string words;
        const std::size_t list = operation_.name.starts_with("list") ? 4 : 0;
        for (const char c : operation_.name.substr(list)) {
            const bool capital = c >= 'A' && c <= 'Z';
            if (capital && !words.empty()) words += ' ';
            words += capital ? static_cast<char>(c - 'A' + 'a') : c;
        }
        return words;
    }

    Task<> watch(ApiCall call) {
        if (style_.format != Format::table && style_.format != Format::json && style_.format != Format::name)
            co_return fail(Code::invalid, "--watch prints table, json or name");
        call.query.emplace_back("watch", "true");
        Table table{operation_, style_, Table::More::follow};
        json::array first;
        bool synced = false;
        const auto each = [&](ServerEvent event) -> Result<bool> {
            style_.now = world_.timers.wall();
            if (event.name == "synced") {
                if (!std::exchange(synced, true) && style_.format == Format::table && !first.empty()) {
                    world_.out(table.rows(first));
                    tell_left_out(table);
                }
                return true;
            }
            json::value item = TRY(api::parse_json(event.data, std::size_t{16} << 20));
            if (style_.format == Format::json)
                world_.out(safe_json(api::compact(json::object{{"event", event.name}, {"item", item}})) +
                           "\n");
            else if (style_.format == Format::name)
                world_.out(name_of(*operation_.response().find("items")->schema->element, item) + "\n");
            else if (synced)
                world_.out(table.rows({std::move(item)}));
            else
                first.push_back(std::move(item));
            return true;
        };
        std::string last_id;
        for (int tries = 0;; ++tries) {
            const std::string before = last_id;
            auto watched = co_await client_.watch(call, last_id, each);
            if (before != last_id) tries = 0;
            if (!watched && watched.error().reason == "watch_expired" && !last_id.empty()) {
                last_id.clear();  // All that is there comes first.
                continue;
            }
            const bool again = watched || watched.error().code == Code::unavailable;
            if (!again || tries >= watch_tries_max || (!watched && last_id.empty())) co_return watched;
            CO_TRY(co_await sleep(world_.timers, std::chrono::milliseconds{500}));
        }
    }

    static bool set(const api::Params& query, std::string_view name, std::string_view value) {
        return std::ranges::any_of(query,
                                   [&](const auto& one) { return one.first == name && one.second == value; });
    }

    // A terminal is given whole characters and colours.
    void write_log(std::string_view bytes, bool last) {
        if (!style_.terminal) return world_.out(bytes);
        log_rest_.append(bytes);
        const auto whole = log_rest_.size() - (last ? 0 : unfinished_bytes(log_rest_));
        world_.out(safe_log(std::string_view{log_rest_}.substr(0, whole)));
        log_rest_.erase(0, whole);
    }

    // Prints lines of one task as they are written, until it or its job is over.
    Task<> follow_task(ApiCall call) {
        if (style_.format != Format::table) co_return fail(Code::invalid, "--follow prints text alone");
        JobFollowed what{.rank = 0, .terminal = style_.terminal};
        for (const auto& [name, value] : call.params) what.job = value;
        for (const auto& [name, value] : call.query) {
            if (name == "tenantID") what.tenant = value;
            if (name == "project") what.project = value;
            if (name == "rank") what.rank = std::atoll(value.c_str());
            if (name == "index") what.index = std::atoll(value.c_str());
            if (name == "attempt") what.attempt = std::atoll(value.c_str());
            if (name == "timestamps") what.timestamps = value == "true";
            if (name == "tail" || name == "since" || name == "after") what.first.emplace_back(name, value);
        }
        const api::Job job = CO_TRY(co_await follow_job(world_, client_, std::move(what)));
        world_.err(is_over(job)
                       ? end_of(job) + "\n"
                       : fmt::format("the task is over, and job/{} continues\n", safe_line(job.name)));
        co_return Result<>{};
    }

    // Prints lines as they are written, until the instance has stopped.
    Task<> follow(ApiCall call) {
        if (style_.format != Format::table) co_return fail(Code::invalid, "--follow prints text alone");
        std::string instance;
        for (const auto& [name, value] : call.params) instance = value;
        int tries = 0;
        bool first = true;
        for (Duration pause = follow_pause_min;; pause = std::min(pause * 2, follow_pause_max)) {
            auto answer = co_await client_.call(call);
            if (!answer && !first && may_pass(answer.error()) && ++tries <= follow_tries_max) {
                if (tries == 1)
                    world_.err(fmt::format("{}; asking again\n", safe_line(answer.error().message)));
                CO_TRY(co_await sleep(world_.timers, follow_pause_max));
                continue;
            }
            const json::value logs = CO_TRY(std::move(answer));
            tries = 0;
            const std::string text = log_bytes(logs);
            const std::string next = text_of(logs, "next");
            if (next.empty())
                co_return fail(Code::conflict,
                               "this cloud's master is of an older release, and logs cannot be followed",
                               "not_followed");
            const auto is = [&](std::string_view name) { return is_set(logs, name); };
            if (!std::exchange(first, false) && is("truncated"))
                world_.err("some lines are missing: they are no longer kept\n");
            write_log(text, is("ended") && text.empty());
            if (!text.empty()) pause = follow_pause_min;
            if (is("ended") && text.empty()) {
                world_.err(fmt::format("instance/{} does not run\n", instance));
                co_return Result<>{};
            }
            std::erase_if(call.query, [](const auto& one) {
                return one.first == "after" || one.first == "since" || one.first == "tail";
            });
            call.query.emplace_back("after", next);
            call.query.emplace_back("tail", "10000");
            if (!is("ended")) CO_TRY(co_await sleep(world_.timers, pause));
        }
    }

    Task<> show(ApiCall call, const json::value& answer) {
        const std::string subject = subject_of(command_, call);
        if (command_.wait && !command_.dry_run) co_return co_await wait(std::move(call), answer);
        const bool talk_only =
            style_.format == Format::table && (operation_.status == 202 || is_empty(answer));
        if (!talk_only) {
            const std::string name = subject.substr(std::min(subject.size(), subject.find('/') + 1));
            world_.out(style_.format == Format::name && has_no_name(answer)
                           ? name + "\n"
                           : render_object(operation_, answer, style_));
        }
        if (operation_.writes()) talk(call, subject, answer);
        if (&operation_ == &api::ops::get_instance_logs) tell_what_is_cut(call, answer);
        co_return Result<>{};
    }

    // Fewer lines than were asked for, though there are more.
    void tell_what_is_cut(const ApiCall& call, const json::value& logs) {
        if (style_.format != Format::table || !is_set(logs, "truncated")) return;
        std::int64_t wanted = api::GetLogs{}.tail;
        for (const auto& [name, value] : call.query)
            if (name == "tail") wanted = std::atoll(value.c_str());
        const std::string bytes = log_bytes(logs);
        if (std::ranges::count(bytes, '\n') + (bytes.ends_with('\n') ? 0 : 1) < wanted)
            world_.err(
                "its beginning is left out: more was written than one answer holds, or than is kept\n");
    }

    static bool is_set(const json::value& answer, std::string_view name) {
        const json::value* flag = answer.is_object() ? answer.get_object().if_contains(name) : nullptr;
        return flag && flag->is_bool() && flag->get_bool();
    }

    static bool is_empty(const json::value& answer) {
        return answer.is_object() && answer.get_object().empty();
    }

    bool has_no_name(const json::value& answer) const {
        return is_empty(answer) || &operation_ == &api::ops::create_instance;
    }

    // What outlives the instance's container.
    void tell_what_stays(const json::value& answer) {
        namespace ops = api::ops;
        if (&operation_ == &ops::create_instance)
            world_.err(
                "files outside its volumes are kept while it is stopped, and lost when it is deleted or "
                "starts on another host\n");
        if (&operation_ != &ops::stop_instance) return;
        const json::value* layer = answer.is_object() ? answer.get_object().if_contains("layer") : nullptr;
        world_.err(layer && layer->is_object()
                       ? fmt::format("its volumes stay, and its files outside them are kept on host {} "
                                     "until it is deleted\n",
                                     safe_line(text_of(*layer, "host")))
                       : "its volumes stay; files outside them are lost\n");
    }

    // The command that shows what goes on after the answer; "" when nothing does.
    std::string how_far(const ApiCall& call, const json::value& answer) const {
        namespace ops = api::ops;
        std::string begins, shown_by;
        if (&operation_ == &ops::create_instance)
            shown_by = "instance get " + text_of(call.body, "instanceID");
        if (&operation_ == &ops::create_cluster || &operation_ == &ops::scale_cluster ||
            &operation_ == &ops::delete_cluster)
            shown_by = "cluster get " + text_of(answer, "id");
        if (&operation_ == &ops::save_cluster) shown_by = "cluster show-save " + text_of(answer, "id");
        if (operation_.status == 202) {
            const std::string id = text_of(answer, "id");
            begins = fmt::format(" as soon as operation {} is done", id);
            shown_by = "operation get " + id;
        }
        if (shown_by.empty()) return {};
        return safe_line(fmt::format("{}; `hostler {}` shows how far it is", begins, shown_by));
    }

    void talk(const ApiCall& call, const std::string& subject, const json::value& answer) {
        if (command_.dry_run) {
            world_.err(
                fmt::format("{}: would be {} (nothing was changed)\n", subject, participle(operation_.verb)));
            return;
        }
        const bool goes_on = &operation_ == &api::ops::delete_cluster;
        world_.err(fmt::format("{} {}{}\n", subject,
                               goes_on ? "is being deleted" : participle(operation_.verb),
                               how_far(call, answer)));
        tell_what_stays(answer);
        const auto& schema = operation_.response();
        if (schema.find("secret") || schema.find("token"))
            world_.err("keep the secret now: it is not shown again\n");
        if (schema.find("recoveryCodes"))
            world_.err("keep the recovery codes now: they are not shown again\n");
    }

    Task<> wait(ApiCall call, json::value answer) {
        if (operation_.status == 202) {
            const std::string id = text_of(answer, "id");
            const json::value ended = CO_TRY(co_await wait_operation(client_, world_, id, patience_));
            if (style_.format != Format::table)
                world_.out(render_object(api::ops::get_operation, ended, style_));
            world_.err(fmt::format("{} {}\n", subject_of(command_, call), participle(operation_.verb)));
            co_return Result<>{};
        }
        if (&operation_ == &api::ops::submit_job || &operation_ == &api::ops::cancel_job)
            co_return co_await wait_for_job(answer);
        if (&operation_ == &api::ops::drain_host) {
            const std::string host = call.params.front().second;
            const json::value drained = CO_TRY(co_await wait_drained(client_, world_, host, patience_));
            if (style_.format != Format::table)
                world_.out(render_object(api::ops::get_host, drained, style_));
            world_.err(fmt::format("host/{} drained: nothing is left there\n", host));
            co_return Result<>{};
        }
        const bool ends =
            &operation_ == &api::ops::delete_instance || &operation_ == &api::ops::stop_instance;
        std::string instance = text_of(call.body, "instanceID");
        std::string tenant = text_of(call.body, "tenantID");
        for (const auto& [name, value] : call.params) instance = value;
        for (const auto& [name, value] : call.query)
            if (name == "tenantID") tenant = value;
        const json::value seen = CO_TRY(co_await wait_instance(
            client_, world_, instance, tenant, ends ? Until::ended : Until::running, patience_));
        if (ends || seen.is_null()) {
            if (style_.format != Format::table) world_.out(render_object(operation_, answer, style_));
            world_.err(fmt::format("instance/{} {}\n", instance, participle(operation_.verb)));
            tell_what_stays(answer);
            co_return Result<>{};
        }
        if (style_.format != Format::table) {
            world_.out(render_object(api::ops::get_instance, seen, style_));
        } else if (const json::value* urls = seen.get_object().if_contains("urls");
                   urls && urls->is_array()) {
            for (const json::value& url : urls->get_array())
                if (url.is_object()) world_.out(safe_line(text_of(url, "url")) + "\n");
        }
        world_.err(fmt::format(
            "instance/{} {}\n", instance,
            has_completed(seen) ? "ran, and its program has ended with exit code 0" : "is running"));
        tell_what_stays(answer);
        co_return Result<>{};
    }

    // A cancelled job is what was asked for by cancelling it.
    Task<> wait_for_job(json::value answer) {
        const json::value ended = CO_TRY(co_await wait_job(world_, client_, text_of(answer, "id"),
                                                           text_of(answer, "tenantID"), patience_));
        const auto job = CO_TRY(api::decode_stored<api::Job>(json::serialize(ended)));
        if (style_.format != Format::table) world_.out(render_object(api::ops::get_job, ended, style_));
        world_.err(end_of(job) + "\n");
        const bool as_asked = &operation_ == &api::ops::cancel_job && job.state == api::JobState::cancelled;
        code_ = as_asked ? static_cast<int>(Exit::ok) : exit_of(job);
        co_return Result<>{};
    }

    CliWorld& world_;
    ApiClient& client_;
    const Command& command_;
    const api::Operation& operation_;
    Style style_;
    const bool yes_;
    std::string log_rest_;
    Duration patience_{};
    int code_ = static_cast<int>(Exit::ok);
};

}  // namespace

Task<int> run_operation(CliWorld& world, ApiClient& client, const Command& command, const Style& style,
                        bool yes) {
    Run run{world, client, command, style, yes};
    CO_TRY(co_await run.perform());
    co_return run.code();
}

}  // namespace hostler::cli
