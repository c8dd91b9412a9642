#include "cli/apply.h"

#include <fmt/format.h>

#include "api/indent.h"
#include "api/operations_stock.h"
#include "api/operations_whoami.h"
#include "cli/apply_item.h"
#include "cli/request.h"
#include "cli/settle.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

class Apply {
public:
    Apply(CliWorld& world, ApiClient& client, Style style, bool dry_run)
        : world_(world), client_(client), style_(style), dry_run_(dry_run) {}

    Task<> run(std::vector<std::string> files) {
        CO_TRY(read(files));
        CO_TRY(co_await fill_tenants());
        Result<> first;
        for (Item& item : items_) {
            auto done = co_await Settle{world_, client_, dry_run_}.run(item);
            if (!done && is_premature(item, done.error())) {
                item.outcome = Outcome::created;
                item.message = "only partly known: it needs resources of the documents before it";
                done = Result<>{};
            }
            if (!done && first) first = done;
            if (!done) refuse(item, done.error());
            tell(item);
            if (!done && is_hopeless(done.error())) break;
        }
        finish();
        if (first) co_return first;
        Error error = first.error();  // It was told where it happened.
        error.message = items_.size() == 1 ? "nothing was done" : summary();
        error.fields.clear();
        error.help.clear();
        co_return std::unexpected(std::move(error));
    }

private:
    // ---- before anything is done

    Result<> read(const std::vector<std::string>& files) {
        Error wrong{.code = Code::invalid};
        for (const std::string& file : files)
            for (Document& document : TRY(read_documents(file, world_))) take(std::move(document), wrong);
        if (wrong.fields.empty()) return {};
        wrong.message =
            fmt::format("{}; nothing was sent",
                        wrong.fields.size() == 1 ? "a field is wrong"
                                                 : fmt::format("{} fields are wrong", wrong.fields.size()));
        return std::unexpected(std::move(wrong));
    }

    void take(Document document, Error& wrong) {
        Item item{.document = std::move(document)};
        item.fields = std::move(item.document.value.get_object());
        const auto complain = [&](std::string_view path, std::string_view message) {
            wrong.fields.push_back(
                {fmt::format("{}: {}", item.document.place(path), path), std::string(message)});
        };
        const json::value* kind = item.fields.if_contains("kind");
        item.noun = text_of(item.fields, "kind");
        item.kind = kind_of(item.noun);
        if (!item.kind.create) {
            complain("kind", !kind ? fmt::format("is required: one of {}", fmt::join(kinds(), ", "))
                             : item.noun.empty() ? "must be a text"
                                                 : no_kind(item.noun));
            return;
        }
        item.fields.erase("kind");
        item.name = text_of(item.fields, item.kind.create->argument);
        if (item.kind.create == &api::ops::create_stocks) {
            item.images = split(item, api::ops::prepare_stock, {"images", "templates"}, complain);
            item.policy = split(item, api::ops::update_stock, {"reclaim", "keep"}, complain);
        }
        json::object checked = item.fields;
        if (lacks_tenant(item)) checked["tenantID"] = "tenant";  // It is the key's own; see fill_tenants().
        if (const auto right = item.kind.create->check(checked); !right)
            for (const FieldError& field : right.error().fields) complain(field.path, field.message);
        items_.push_back(std::move(item));
    }

    // What another call takes: its request, of the fields that the document has of it. Nullopt: of none.
    static std::optional<json::object> split(Item& item, const api::Operation& call,
                                             std::initializer_list<std::string_view> names,
                                             const auto& complain) {
        json::object request{{"spec", item.name}};
        for (const std::string_view field : names)
            if (const json::value* value = item.fields.if_contains(field)) {
                request[field] = *value;
                item.fields.erase(field);
            }
        if (request.size() == 1) return std::nullopt;
        if (const auto right = call.check(request); !right)
            for (const FieldError& field : right.error().fields)
                if (field.path != "spec") complain(field.path, field.message);  // It is told as specName.
        return request;
    }

    static bool lacks_tenant(const Item& item) {
        const api::Property* tenant = item.kind.create->request().find("tenantID");
        return tenant && tenant->required && !item.fields.contains("tenantID");
    }

    Task<> fill_tenants() {
        if (std::none_of(items_.begin(), items_.end(), lacks_tenant)) co_return Result<>{};
        const std::string tenant =
            text_of(CO_TRY(co_await client_.call({.operation = &api::ops::whoami})), "tenantID");
        Error wrong{.code = Code::invalid, .message = "name the owning tenant; nothing was sent"};
        for (Item& item : items_) {
            if (!lacks_tenant(item)) continue;
            if (tenant.empty())
                wrong.fields.push_back(
                    {item.document.place() + ": tenantID", "is required with an operator's key"});
            else
                item.fields["tenantID"] = tenant;
        }
        if (!wrong.fields.empty()) co_return std::unexpected(std::move(wrong));
        co_return Result<>{};
    }

    // ---- telling

    // The next document would meet the same.
    static bool is_hopeless(const Error& error) {
        return error.code == Code::unavailable || error.code == Code::unauthenticated ||
               error.code == Code::timeout || error.code == Code::cancelled || error.reason == "not_our_api";
    }

    // In a dry run, when all that is wrong is what a document before it would have made.
    bool is_premature(const Item& item, const Error& error) const {
        if (!dry_run_) return false;
        const auto is_made = [&](const json::value* value) {
            return value && value->is_string() && std::any_of(items_.data(), &item, [&](const Item& one) {
                       return one.outcome == Outcome::created && one.name == value->get_string();
                   });
        };
        if (!error.fields.empty())
            return std::all_of(error.fields.begin(), error.fields.end(), [&](const FieldError& field) {
                return is_made(item.fields.if_contains(field.path));
            });
        return error.code == Code::not_found &&
               std::any_of(item.fields.begin(), item.fields.end(), [&](const auto& field) {
                   return field.key() != item.kind.create->argument && is_made(&field.value());
               });
    }

    void refuse(Item& item, const Error& error) {
        item.outcome = Outcome::refused;
        item.message = error.message;
        world_.err(safe_lines(
            fmt::format("{}: {}/{}: {}\n", item.document.place(), item.noun, item.name, error.message)));
        for (const FieldError& field : error.fields)
            world_.err(safe_lines(
                fmt::format("  {}: {}: {}\n", item.document.place(field.path), field.path, field.message)));
        if (!error.help.empty() &&
            error.code != Code::unauthenticated)  // What helps there is told at the end.
            world_.err(safe_lines(fmt::format("  would help: {}\n", error.help)));
    }

    void tell(const Item& item) {
        if (style_.format == Format::name && item.outcome != Outcome::refused)
            world_.out(safe_lines(fmt::format("{}/{}\n", item.noun, item.name)));
        if (style_.format != Format::table) return;
        const bool would = dry_run_ && (item.outcome == Outcome::created || item.outcome == Outcome::updated);
        std::string line =
            fmt::format("{}/{} {}{}", item.noun, item.name, would ? "would be " : "", name(item.outcome));
        if (!item.message.empty() && item.outcome != Outcome::refused)
            line += fmt::format(": {}", item.message);
        world_.out(safe_lines(line) + "\n");
        if (const auto secret = text_of(item.answer, "secret"); !secret.empty())
            world_.out(fmt::format("  secret: {}\n", secret));
    }

    std::string summary() const {
        std::vector<std::string> parts;
        for (const Outcome outcome :
             {Outcome::created, Outcome::updated, Outcome::unchanged, Outcome::refused, Outcome::not_tried}) {
            const auto count = std::count_if(items_.begin(), items_.end(),
                                             [&](const Item& item) { return item.outcome == outcome; });
            if (count > 0)
                parts.push_back(
                    fmt::format("{} {}", count, outcome == Outcome::not_tried ? "not tried" : name(outcome)));
        }
        return fmt::format("{}{}", fmt::join(parts, ", "),
                           dry_run_ ? " (a dry run: nothing was changed)" : "");
    }

    void finish() {
        const bool secrets = std::any_of(items_.begin(), items_.end(), [](const Item& item) {
            return !text_of(item.answer, "secret").empty();
        });
        if (secrets) world_.err("keep the secret now: it is not shown again\n");
        const bool refused = std::any_of(items_.begin(), items_.end(),
                                         [](const Item& item) { return item.outcome == Outcome::refused; });
        if (style_.format == Format::table && !refused && (items_.size() > 1 || dry_run_))
            world_.err(summary() + "\n");
        if (style_.format == Format::table || style_.format == Format::name) return;
        json::array results;
        for (const Item& item : items_) {
            json::object result{
                {"kind", item.noun},  {"name", item.name},       {"result", name(item.outcome)},
                {"dryRun", dry_run_}, {"message", item.message}, {"at", item.document.place()}};
            if (item.answer.is_object() && !item.answer.get_object().empty()) result["answer"] = item.answer;
            results.push_back(std::move(result));
        }
        world_.out(render_results(results, style_.format));
    }

    CliWorld& world_;
    ApiClient& client_;
    Style style_;
    bool dry_run_;
    std::vector<Item> items_;
};

}  // namespace

Task<> apply(CliWorld& world, ApiClient& client, std::vector<std::string> files, Style style, bool dry_run) {
    Apply run{world, client, style, dry_run};
    co_return co_await run.run(std::move(files));
}

}  // namespace hostler::cli
