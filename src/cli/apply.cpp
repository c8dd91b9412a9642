#include "cli/apply.h"

#include <fmt/format.h>

#include <set>

#include "api/indent.h"
#include "cli/compare.h"
#include "cli/documents.h"
#include "cli/request.h"

namespace hostler::cli {

namespace {

constexpr std::size_t pages_max = 1000;

// The operations on one kind of object.
struct Kind {
    const api::Operation* create = nullptr;
    const api::Operation* get = nullptr;
    const api::Operation* list = nullptr;
    const api::Operation* remove = nullptr;
    const api::Operation* replace = nullptr;
};

Kind kind_of(std::string_view noun) {
    Kind kind;
    for (const api::Operation* one : api::operations()) {
        if (one->noun != noun) continue;
        const bool creates = one->method == api::Method::post && one->verb == "create";
        const bool sets = one->method == api::Method::put && one->verb == "set";
        if ((creates || sets) && !one->argument.empty()) kind.create = one;
        if (one->verb == "get") kind.get = one;
        if (one->verb == "list") kind.list = one;
        if (one->verb == "delete") kind.remove = one;
        if (one->verb == "replace") kind.replace = one;
    }
    return kind;
}

std::vector<std::string_view> kinds() {
    std::vector<std::string_view> names;
    for (const api::Noun& noun : api::nouns)
        if (kind_of(noun.name).create) names.push_back(noun.name);
    return names;
}

// Why nothing of this kind can be applied.
std::string no_kind(std::string_view noun) {
    for (const api::Operation* one : api::operations())
        if (one->noun == noun && one->verb == "create")
            return fmt::format(
                "a {0} has no name by which it could be known again: `hostler {0} create` makes one", noun);
    if (const auto meant = api::nearest(noun, kinds()); !meant.empty())
        return fmt::format("there is no kind '{}'; did you mean '{}'?", noun, meant);
    return fmt::format("'{}' is none of {}", noun, fmt::join(kinds(), ", "));
}

enum class Outcome { created, updated, unchanged, refused, not_tried };

std::string_view name(Outcome outcome) {
    switch (outcome) {
        case Outcome::created: return "created";
        case Outcome::updated: return "updated";
        case Outcome::unchanged: return "unchanged";
        case Outcome::refused: return "refused";
        case Outcome::not_tried: return "notTried";
    }
    broken("an outcome outside its enum", __FILE__, __LINE__);
}

// One document on its way.
struct Item {
    Document document;
    std::string noun;
    std::string name;
    Kind kind;
    json::object fields;                   // Without `kind`.
    std::optional<json::object> images{};  // Of stock: what it is to have in advance.
    Outcome outcome = Outcome::not_tried;
    std::string message{};  // What was changed, or why not.
    json::value answer{};   // Of the call that created it.
};

class Apply {
public:
    Apply(CliWorld& world, ApiClient& client, Style style, bool dry_run)
        : world_(world), client_(client), style_(style), dry_run_(dry_run) {}

    Task<> run(std::vector<std::string> files) {
        CO_TRY(read(files));
        CO_TRY(co_await fill_tenants());
        Result<> first;
        for (Item& item : items_) {
            auto done = co_await settle(item);
            if (!done && is_premature(item, done.error())) {
                item.outcome = Outcome::created;
                item.message = "as far as can be told: it needs what the documents before it make";
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
        if (item.kind.create == &api::ops::create_stocks) split_images(item, complain);
        json::object checked = item.fields;
        if (lacks_tenant(item)) checked["tenantID"] = "tenant";  // It is the key's own; see fill_tenants().
        if (const auto right = item.kind.create->check(checked); !right)
            for (const FieldError& field : right.error().fields) complain(field.path, field.message);
        items_.push_back(std::move(item));
    }

    // Images in advance are a call of their own.
    static void split_images(Item& item, const auto& complain) {
        json::object images{{"spec", item.name}};
        for (const char* field : {"images", "templates"})
            if (const json::value* value = item.fields.if_contains(field)) images[field] = *value;
        if (images.size() == 1) return;
        item.fields.erase("images");
        item.fields.erase("templates");
        if (const auto right = api::ops::prepare_stock.check(images); !right)
            for (const FieldError& field : right.error().fields) complain(field.path, field.message);
        item.images = std::move(images);
    }

    static bool lacks_tenant(const Item& item) {
        const api::Property* tenant = item.kind.create->request().find("tenantID");
        return tenant && tenant->required && !item.fields.contains("tenantID");
    }

    Task<> fill_tenants() {
        if (std::none_of(items_.begin(), items_.end(), lacks_tenant)) co_return Result<>{};
        const std::string tenant =
            text_of(CO_TRY(co_await client_.call({.operation = &api::ops::whoami})), "tenantID");
        Error wrong{.code = Code::invalid, .message = "whose it is must be said; nothing was sent"};
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

    // ---- one document

    Task<> settle(Item& item) {
        if (item.kind.create == &api::ops::create_stocks) co_return co_await settle_stock(item);
        if (item.kind.create == &api::ops::set_price) co_return co_await settle_price(item);
        const json::value seen = CO_TRY(co_await find(item));
        if (seen.is_null()) co_return co_await create(item);
        const auto same =
            compare(item, item.kind.get ? item.kind.get->response() : element(*item.kind.list), seen);
        if (!same && item.kind.replace) co_return co_await replace(item, same.error());
        CO_TRY(same);
        item.outcome = Outcome::unchanged;
        // What an instance was created with is not all shown. Created again, it is the same or refused.
        if (item.kind.create == &api::ops::create_instance) CO_TRY(co_await post(item, item.fields));
        co_return Result<>{};
    }

    static const api::Schema& element(const api::Operation& list) {
        return *list.response().find("items")->schema->element;
    }

    Task<> create(Item& item) {
        item.answer = CO_TRY(co_await post(item, item.fields));
        item.outcome = Outcome::created;
        co_return Result<>{};
    }

    Task<> replace(Item& item, Error differs) {
        json::object fields = item.fields;
        fields.erase(item.kind.create->argument);
        for (const api::Property& property : item.kind.replace->request().properties)
            if (api::place_of(*item.kind.replace, property) == api::Place::path)
                fields[property.name] = item.name;
        item.answer = CO_TRY(co_await send(place_fields(*item.kind.replace, std::move(fields))));
        item.outcome = Outcome::updated;
        item.message = std::move(differs.message);
        co_return Result<>{};
    }

    Task<json::value> post(const Item& item, json::object fields) {
        return send(place_fields(*item.kind.create, std::move(fields)));
    }

    Task<json::value> send(ApiCall call) {
        if (dry_run_) call.query.emplace_back("dryRun", "true");
        return client_.call(std::move(call));
    }

    // null: it is not there.
    Task<json::value> find(const Item& item) {
        if (!item.kind.get) return find_in_list(item);
        json::object named;
        for (const api::Property& property : item.kind.get->request().properties) {
            const json::value* own = item.fields.if_contains(property.name);
            if (api::place_of(*item.kind.get, property) == api::Place::path)
                named[property.name] = item.name;
            else if (own)
                named[property.name] = *own;
        }
        return look(place_fields(*item.kind.get, std::move(named)));
    }

    Task<json::value> look(ApiCall call) {
        auto seen = co_await client_.call(std::move(call));
        if (!seen && seen.error().code == Code::not_found) co_return json::value{};
        co_return seen;
    }

    // What has no page of its own is told by its name, its tenant, and that it has not expired.
    Task<json::value> find_in_list(const Item& item) {
        HOSTLER_ASSERT(item.kind.list);
        const std::string argument{item.kind.create->argument};
        std::string cursor;
        for (std::size_t page = 0; page < pages_max; ++page) {
            ApiCall call{.operation = item.kind.list, .query = {{"limit", "1000"}}};
            if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
            const json::value answer = CO_TRY(co_await client_.call(std::move(call)));
            const json::value* items =
                answer.is_object() ? answer.get_object().if_contains("items") : nullptr;
            if (!items || !items->is_array())
                co_return fail(Code::internal, "the API's list has no items", "not_our_api");
            for (const json::value& one : items->get_array()) {
                const auto expires = parse_rfc3339(text_of(one, "expiresAt"));
                if (expires && *expires <= world_.timers.wall()) continue;
                if (text_of(one, argument) == item.name &&
                    text_of(one, "tenantID") == text_of(item.fields, "tenantID"))
                    co_return one;
            }
            cursor = text_of(answer, "nextCursor");
            if (cursor.empty()) break;
        }
        co_return json::value{};
    }

    Result<> compare(const Item& item, const api::Schema& schema, const json::value& seen) {
        const auto different = differences(item.kind.create->request(), schema, item.fields, seen);
        if (different.empty()) return {};
        std::vector<std::string> words;
        for (const Difference& one : different)
            words.push_back(fmt::format("{} ({} there, {} in the file)", one.field, one.there, one.wanted));
        Error error{.code = Code::conflict,
                    .message = fmt::format("it exists and differs in: {}", fmt::join(words, ", ")),
                    .reason = "differs"};
        error.help = fmt::format("a {} cannot be changed: take another name, or delete it first", item.noun);
        if (item.noun == "volume" && different.size() == 1 && different[0].field == "size")
            error.help = fmt::format("volumes grow by: hostler volume resize {} --size {}", item.name,
                                     different[0].wanted);
        return std::unexpected(std::move(error));
    }

    // A price is known by what it is for; what holds for just that gives way.
    Task<> settle_price(Item& item) {
        const json::value now = CO_TRY(co_await find_price(item));
        // "2.5", 2.50 and "2.500" are the same sum.
        const auto amount = [](const json::value& of) {
            std::string text = of.is_string() ? std::string(of.get_string()) : json::serialize(of);
            if (!text.contains('.')) return text;
            while (text.ends_with('0')) text.pop_back();
            if (text.ends_with('.')) text.pop_back();
            return text;
        };
        const std::string currency = text_of(item.fields, "currency");
        if (!now.is_null() && amount(now.at("amount")) == amount(item.fields.at("amount")) &&
            (currency.empty() || currency == text_of(now, "currency"))) {
            item.outcome = Outcome::unchanged;
            co_return Result<>{};
        }
        json::object fields = item.fields;
        fields["ifVersion"] = now.is_null() ? json::value(0) : now.at("version");
        item.answer = CO_TRY(co_await post(item, std::move(fields)));
        item.outcome = now.is_null() ? Outcome::created : Outcome::updated;
        if (!now.is_null())
            item.message = fmt::format("{} {}, was {} {}", text_of(item.answer, "amount"),
                                       text_of(item.answer, "currency"), text_of(now, "amount"),
                                       text_of(now, "currency"));
        co_return Result<>{};
    }

    // null: there is none for just these.
    Task<json::value> find_price(const Item& item) {
        std::string cursor;
        for (std::size_t page = 0; page < pages_max; ++page) {
            ApiCall call{.operation = &api::ops::list_prices, .query = {{"limit", "1000"}}};
            if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
            const json::value answer = CO_TRY(co_await client_.call(std::move(call)));
            const json::value* items =
                answer.is_object() ? answer.get_object().if_contains("items") : nullptr;
            if (!items || !items->is_array())
                co_return fail(Code::internal, "the API's list has no items", "not_our_api");
            for (const json::value& one : items->get_array()) {
                bool same = one.is_object() && one.get_object().contains("amount") &&
                            one.get_object().contains("version");
                for (const char* field : {"gpuType", "zone", "trust", "isolation"})
                    same = same && text_of(one, field) == text_of(item.fields, field);
                if (same) co_return one;
            }
            cursor = text_of(answer, "nextCursor");
            if (cursor.empty()) break;
        }
        co_return json::value{};
    }

    // Slots are counted: as many as the file says, of the zone that it names or of all together.
    Task<> settle_stock(Item& item) {
        const json::value spec =
            CO_TRY(co_await look({.operation = &api::ops::get_spec, .params = {{"spec", item.name}}}));
        const json::value stock =
            CO_TRY(co_await look({.operation = &api::ops::get_stock, .params = {{"spec", item.name}}}));
        if (spec.is_null() || stock.is_null()) {
            item.fields["ifWanted"] = 0;
            CO_TRY(co_await create(item));
            if (!dry_run_) CO_TRY(co_await settle_images(item, json::array{}));  // Of what is not there yet.
            co_return Result<>{};
        }
        CO_TRY(compare(item, api::ops::get_spec.response(), spec));
        const std::int64_t there = slots(stock, text_of(item.fields, "zone"));
        const std::int64_t wanted = item.fields["number"].to_number<std::int64_t>();
        item.outcome = there == wanted ? Outcome::unchanged : Outcome::updated;
        if (there == wanted) co_return co_await settle_images(item, seen_images(stock));
        item.message = fmt::format("{} slots, were {}", wanted, there);
        json::object change{{"specName", item.name}, {"number", std::abs(wanted - there)}};
        change["ifWanted"] = there;  // Whoever applies the same at this moment is told, not doubled.
        if (const json::value* zone = item.fields.if_contains("zone")) change["zone"] = *zone;
        const api::Operation& operation = wanted > there ? *item.kind.create : *item.kind.remove;
        CO_TRY(co_await send(place_fields(operation, std::move(change))));
        co_return co_await settle_images(item, seen_images(stock));
    }

    static json::array seen_images(const json::value& stock) {
        const json::value* images = stock.is_object() ? stock.get_object().if_contains("images") : nullptr;
        return images && images->is_array() ? images->get_array() : json::array{};
    }

    // The order of the lists says nothing.
    Task<> settle_images(Item& item, json::array there) {
        if (!item.images) co_return Result<>{};
        std::set<std::pair<std::string, bool>> is, wanted;
        for (const json::value& one : there) {
            const auto of = text_of(one, "template");
            is.emplace(of.empty() ? text_of(one, "image") : of, !of.empty());
        }
        for (const char* field : {"images", "templates"})
            if (const json::value* list = item.images->if_contains(field))
                for (const json::value& one : list->get_array())
                    wanted.emplace(std::string(one.get_string()), field == std::string_view{"templates"});
        if (is == wanted) co_return Result<>{};
        CO_TRY(co_await send(place_fields(api::ops::prepare_stock, *item.images)));
        if (item.outcome == Outcome::unchanged) item.outcome = Outcome::updated;
        item.message += fmt::format("{}{} images in advance, were {}", item.message.empty() ? "" : "; ",
                                    wanted.size(), is.size());
        co_return Result<>{};
    }

    static std::int64_t slots(const json::value& stock, std::string_view zone) {
        const auto wanted = [](const json::value& of) -> std::int64_t {
            const json::value* value = of.is_object() ? of.get_object().if_contains("wanted") : nullptr;
            return value && value->is_int64() ? value->get_int64() : 0;
        };
        if (zone.empty()) return wanted(stock);
        const json::value* zones = stock.is_object() ? stock.get_object().if_contains("zones") : nullptr;
        if (zones && zones->is_array())
            for (const json::value& one : zones->get_array())
                if (text_of(one, "zone") == zone) return wanted(one);
        return 0;
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
        world_.err(
            fmt::format("{}: {}/{}: {}\n", item.document.place(), item.noun, item.name, error.message));
        for (const FieldError& field : error.fields)
            world_.err(
                fmt::format("  {}: {}: {}\n", item.document.place(field.path), field.path, field.message));
        if (!error.help.empty() &&
            error.code != Code::unauthenticated)  // What helps there is told at the end.
            world_.err(fmt::format("  would help: {}\n", error.help));
    }

    void tell(const Item& item) {
        if (style_.format == Format::name && item.outcome != Outcome::refused)
            world_.out(fmt::format("{}/{}\n", item.noun, item.name));
        if (style_.format != Format::table) return;
        const bool would = dry_run_ && (item.outcome == Outcome::created || item.outcome == Outcome::updated);
        std::string line =
            fmt::format("{}/{} {}{}", item.noun, item.name, would ? "would be " : "", name(item.outcome));
        if (!item.message.empty() && item.outcome != Outcome::refused)
            line += fmt::format(": {}", item.message);
        world_.out(line + "\n");
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
