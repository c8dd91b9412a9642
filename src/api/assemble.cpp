// One request out of path, query and body.
#include <boost/json.hpp>
#include <charconv>

#include "api/codec.h"
#include "api/list_query.h"
#include "api/router.h"

namespace hostler::api {

namespace {

namespace json = boost::json;

constexpr auto commons = std::to_array<CommonParameter>({
    {"dryRun", "Decide and answer, but change nothing.", can_dry_run, Kind::boolean, 0, 0, "false"},
    {"limit", "Entries of a page, at most.", [](const Operation& o) { return o.list; }, Kind::integer, 1,
     1000, "100"},
    {"cursor", "Continue behind the page with this nextCursor, of the same list.",
     [](const Operation& o) { return o.list; }, Kind::text},
    {"query", "Only what fits: FIELD OP VALUE, several with blanks between them (docs/use/api.md).",
     [](const Operation& o) { return o.takes_query(); }, Kind::text},
    {"order", "created: the oldest first. -created: the newest first.",
     [](const Operation& o) { return o.list && o.pages != Pages::own; }, Kind::text, 0, 0, R"("created")"},
    {"total", "Tell also how many there are on all pages.",
     [](const Operation& o) { return o.list && o.pages == Pages::of_memory; }, Kind::boolean, 0, 0, "false"},
    {"watch", "Answer with server-sent events: present objects first, then changes.",
     [](const Operation& o) { return o.watch; }, Kind::boolean, 0, 0, "false"},
});

constexpr std::string_view oldest_first = "created", newest_first = "-created";

std::optional<bool> to_bool(std::string_view text) {
    if (text == "true" || text == "1" || text.empty()) return true;  // ?watch is ?watch=true.
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

// What a parameter's text is as JSON; as text if it is no number, so that the decoder complains about it.
json::value to_value(std::string_view text, const Schema& schema) {
    if (schema.kind == Kind::integer || schema.kind == Kind::number) {
        std::int64_t whole = 0;
        const auto end = text.data() + text.size();
        if (const auto [at, error] = std::from_chars(text.data(), end, whole);
            error == std::errc{} && at == end)
            return whole;
        double number = 0;
        if (const auto [at, error] = std::from_chars(text.data(), end, number);
            schema.kind == Kind::number && error == std::errc{} && at == end)
            return number;
    }
    if (schema.kind == Kind::boolean)
        if (const auto flag = to_bool(text)) return *flag;
    return json::string(text);
}

class Assembler {
public:
    explicit Assembler(const Match& match) : match_(match), schema_(match.operation->request()) {
        for (const CommonParameter& common : commons)
            if (common.applies(*match.operation)) names_.push_back(common.name);
        for (const Property& property : schema_.properties)
            if (takes(property, Place::query)) names_.push_back(property.name);
    }

    Result<Assembled> run(std::string_view body, std::string_view idempotency_key,
                          std::string_view if_match) {
        for (const auto& [name, value] : match_.params) fields_[name] = json::string(value);
        for (const auto& [name, value] : match_.query) take_query(name, value);
        if (body.find_first_not_of(" \t\r\n") != body.npos) TRY(take_body(body));
        take_idempotency_key(idempotency_key);
        take_if_match(if_match);
        out_.fields = std::make_shared<const json::value>(std::move(fields_));
        if (!wrong_.empty()) {
            Error error{.code = Code::invalid};
            error.message = wrong_.size() == 1 ? fmt::format("{}: {}", wrong_[0].path, wrong_[0].message)
                                               : fmt::format("{} fields are wrong", wrong_.size());
            error.fields = std::move(wrong_);
            out_.known = std::unexpected(std::move(error));
        }
        return std::move(out_);
    }

private:
    bool takes(const Property& property, Place place) const {
        const Place there = place_of(*match_.operation, property);
        return there == place || (there == Place::body_or_query && place != Place::path);
    }

    void complain(std::string_view name, std::string message) {
        if (wrong_.size() < errors_max)
            wrong_.push_back({std::string(name.substr(0, 128)), std::move(message)});
    }

    void take_query(const std::string& name, const std::string& value) {
        if (!seen_.insert(name).second) return complain(name, "appears twice in the query");
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
            const auto meant = nearest(name, names_);
            return complain(name, meant.empty()
                                      ? "unknown query parameter"
                                      : fmt::format("unknown query parameter; did you mean '{}'?", meant));
        }
        if (const Property* property = schema_.find(name)) {
            fields_[name] = to_value(value, *property->schema);
            return;
        }
        if (name == "cursor") {
            if (value.empty()) return;
            if (auto cursor = parse_cursor(value))
                out_.cursor = std::move(*cursor);
            else
                complain(name, cursor.error().message);
        } else if (name == "limit") {
            const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), out_.limit);
            if (error != std::errc{} || at != value.data() + value.size() || out_.limit < 1 ||
                out_.limit > 1000)
                complain(name, "must be between 1 and 1000");
        } else if (name == "order") {
            out_.newest_first = value == newest_first;
            if (value != newest_first && value != oldest_first)
                complain(name, fmt::format("must be {} or {}", oldest_first, newest_first));
        } else if (name == "query") {
            const ListFields known = list_fields(item_of(*match_.operation));
            if (auto query = parse_query(value, known.fields)) {
                out_.query = std::move(*query);
                out_.query_text = value;
            } else {
                for (const FieldError& wrong : query.error().fields) complain(wrong.path, wrong.message);
            }
        } else if (const auto flag = to_bool(value)) {
            (name == "dryRun" ? out_.dry_run : name == "total" ? out_.total : out_.watch) = *flag;
        } else {
            complain(name, "must be true or false");
        }
    }

    Result<> take_body(std::string_view body) {
        json::value value = TRY(parse_json(body));
        if (!value.is_object())
            return fail(Code::invalid, "the body must be a JSON object", "malformed_json");
        for (auto& entry : value.get_object()) {
            const std::string name{entry.key()};
            const Property* property = schema_.find(name);
            if (property && !takes(*property, Place::body)) {
                complain(name, place_of(*match_.operation, *property) == Place::path
                                   ? "belongs in the path, not in the body"
                                   : fmt::format("belongs in the query, as ?{}=…, not in the body", name));
            } else if (fields_.contains(name) && fields_[name] != entry.value()) {
                complain(name, "differs between query and body");
            } else {
                fields_[name] = std::move(entry.value());
            }
        }
        return {};
    }

    void take_idempotency_key(std::string_view header) {
        out_.idempotency_key = header;
        if (header.size() > 128 || !forms::one_line.check(header).empty())
            complain("Idempotency-Key", "must be at most 128 characters on one line");
        const json::value* field = fields_.if_contains("operationID");
        if (!field || !field->is_string() || field->get_string().empty()) return;
        const std::string key{field->get_string()};
        if (!header.empty() && header != key)
            complain("operationID", "differs from the header Idempotency-Key");
        out_.idempotency_key = key;
    }

    void take_if_match(std::string_view header) {
        if (header.empty() || !schema_.find("ifVersion")) return;
        const bool quoted = header.size() > 2 && header.front() == '"' && header.back() == '"';
        std::int64_t version = 0;
        const auto digits = quoted ? header.substr(1, header.size() - 2) : "";
        const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
        if (!quoted || error != std::errc{} || at != digits.data() + digits.size() || version < 0)
            return complain("If-Match", "must be one version in quotation marks, as \"7\"");
        if (const json::value* field = fields_.if_contains("ifVersion"); field && *field != version)
            return complain("ifVersion", "differs from the header If-Match");
        fields_["ifVersion"] = version;
    }

    const Match& match_;
    const Schema& schema_;
    std::vector<std::string_view> names_;  // Of query parameters that are known here.
    std::set<std::string> seen_;
    std::vector<FieldError> wrong_;
    json::object fields_;
    Assembled out_;
};

}  // namespace

bool can_dry_run(const Operation& operation) { return operation.writes() && !operation.open; }

bool keeps_answer(const Operation& operation) {
    const auto hidden = [](const Property& property) { return property.field && property.field->hidden; };
    return operation.writes() && !operation.open &&
           std::ranges::none_of(operation.request().properties, hidden);
}

std::span<const CommonParameter> common_parameters() { return commons; }

Place place_of(const Operation& operation, const Property& property) {
    if (operation.path.contains(fmt::format("{{{}}}", property.name))) return Place::path;
    if (property.field && property.field->in == In::query) return Place::query;
    if (operation.method != Method::get && operation.method != Method::delete_) return Place::body;
    return operation.body == Body::or_query ? Place::body_or_query : Place::query;
}

Result<Assembled> assemble(const Match& match, std::string_view body, std::string_view idempotency_key,
                           std::string_view if_match) {
    return Assembler{match}.run(body, idempotency_key, if_match);
}

}  // namespace hostler::api
