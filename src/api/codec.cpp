// The parts of the codec that are the same for every type.
#include "api/codec_define.h"

#include <cmath>

#include "api/indent.h"
#include "core/utf8.h"

namespace hostler::api {
namespace detail {

const Field quantity_field{.member = "", .help = "", .form = &forms::quantity};

void write_text(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size()) {
            const char c = text[plain];
            if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) break;
            const std::size_t length = utf8_length(text.substr(plain, 4));
            if (length == 0) break;
            plain += length;
        }
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        switch (const char c = text.front(); c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20)
                    out += fmt::format("\\u{:04x}", static_cast<int>(c));
                else
                    out += "\xEF\xBF\xBD";  // U+FFFD
        }
        text.remove_prefix(1);
    }
    out += '"';
}

void write_number(std::string& out, double number) {
    if (std::isfinite(number))
        out += fmt::format("{}", number == 0 ? 0 : number);  // "-0" reads back as an integer, 0.
    else
        out += "null";
}

void Reader::complain(std::string message) {
    if (wrong.size() < errors_max) wrong.push_back({path, std::move(message)});
}

Reader::Step::Step(Reader& r, std::string_view name) : reader(r), length(r.path.size()) {
    if (length > 0) reader.path += '.';
    reader.path += name.substr(0, 128);
}

Reader::Step::Step(Reader& r, std::size_t index) : reader(r), length(r.path.size()) {
    reader.path += fmt::format("[{}]", index);
}

void Reader::unknown(const json::object& object, const Schema& schema) {
    std::vector<std::string_view> names;
    names.reserve(schema.properties.size());
    for (const Property& property : schema.properties) names.push_back(property.name);
    for (const auto& entry : object) {
        if (schema.find(entry.key())) continue;
        const Step step{*this, entry.key()};
        const auto meant = nearest(entry.key(), names);
        complain(meant.empty() ? "unknown field" : fmt::format("unknown field; did you mean '{}'?", meant));
    }
}

Result<> Reader::result() && {
    if (wrong.empty()) return {};
    Error error{.code = Code::invalid};
    const FieldError& first = wrong.front();
    if (wrong.size() > 1)
        error.message = fmt::format("{} fields are wrong", wrong.size());
    else
        error.message = first.path.empty() ? first.message : fmt::format("{}: {}", first.path, first.message);
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

bool read_bool(Reader& reader, const json::value& value, bool& into) {
    if (const bool* given = value.if_bool())
        into = *given;
    else
        reader.complain("must be true or false");
    return value.is_bool();
}

bool read_integer(Reader& reader, const json::value& value, const Schema& schema, const Field* field,
                  std::int64_t& into, std::uint64_t& large) {
    if (!value.is_int64() && !value.is_uint64()) {
        reader.complain("must be a whole number");
        return false;
    }
    const bool huge = value.is_uint64();  // Only what an int64 cannot hold comes so.
    const auto small = huge ? std::numeric_limits<std::int64_t>::max() : value.get_int64();
    if (reader.strict)
        if (auto what = wrong_number(
                huge ? static_cast<double>(value.get_uint64()) : static_cast<double>(small), field);
            !what.empty()) {
            reader.complain(std::move(what));
            return false;
        }
    const bool fits =
        huge ? value.get_uint64() <= schema.max
             : small >= schema.min && (small < 0 || static_cast<std::uint64_t>(small) <= schema.max);
    if (!fits) {
        reader.complain(fmt::format("must be between {} and {}", schema.min, schema.max));
        return false;
    }
    into = small;
    large = huge ? value.get_uint64() : static_cast<std::uint64_t>(small);
    return true;
}

bool read_double(Reader& reader, const json::value& value, const Field* field, double& into) {
    if (!value.is_number()) {
        reader.complain("must be a number");
        return false;
    }
    into = value.to_number<double>();
    if (reader.strict)
        if (auto what = wrong_number(into, field); !what.empty()) {
            reader.complain(std::move(what));
            return false;
        }
    return true;
}

bool read_string(Reader& reader, const json::value& value, const Field* field, std::string& into) {
    const bool takes_number = field && (field->form == &forms::quantity || field->form == &forms::amount ||
                                        field->form == &forms::money);
    if (value.is_number() && takes_number) {
        // Kubernetes takes 8 for "8" too.
        into = value.is_double() ? plain_number(value.get_double()) : json::serialize(value);
    } else if (const json::string* text = value.if_string()) {
        into.assign(text->data(), text->size());
    } else {
        reader.complain("must be a text");
        return false;
    }
    if (!reader.strict) return true;
    auto what = wrong_text(into, field);
    if (what.empty()) return true;
    reader.complain(std::move(what));
    return false;
}

bool read_enum(Reader& reader, const json::value& value, const Schema& schema, const Field* field,
               std::size_t& index) {
    const json::string* text = value.if_string();
    const auto found = text ? std::find(schema.values.begin(), schema.values.end(),
                                        std::string_view(text->data(), text->size()))
                            : schema.values.end();
    if (found == schema.values.end()) {
        reader.complain(fmt::format("must be one of {}", fmt::join(schema.values, ", ")));
        return false;
    }
    if (reader.strict && field && field->form)
        if (auto what = field->form->check(*found); !what.empty()) {
            reader.complain(std::move(what));
            return false;
        }
    index = static_cast<std::size_t>(found - schema.values.begin());
    return true;
}

bool read_time(Reader& reader, const json::value& value, WallTime& into) {
    const json::string* text = value.if_string();
    const auto time = text ? parse_rfc3339({text->data(), text->size()}) : fail(Code::invalid, "");
    if (time)
        into = *time;
    else
        reader.complain("must be a time as 2026-11-21T11:40:29Z");
    return time.has_value();
}

void add_rules(Reader& reader, Wrong rules) {
    // A rule that met a field which is wrong by itself says nothing new.
    const auto known = [&](const FieldError& rule) {
        return std::any_of(reader.wrong.begin(), reader.wrong.end(), [&](const FieldError& one) {
            return one.path == rule.path || one.path.starts_with(rule.path + ".") ||
                   one.path.starts_with(rule.path + "[") || rule.path.starts_with(one.path + ".") ||
                   rule.path.starts_with(one.path + "[");
        });
    };
    std::erase_if(rules, known);
    for (auto& rule : rules)
        if (reader.wrong.size() < errors_max) reader.wrong.push_back(std::move(rule));
}

namespace {

// Whether all that `now` says, `before` says too.
bool says(const json::value& before, const json::value& now) {
    if (!now.is_object() || !before.is_object()) return now == before;
    return std::ranges::all_of(now.get_object(), [&](const auto& entry) {
        const json::value* there = before.get_object().if_contains(entry.key());
        return there && says(*there, entry.value());
    });
}

void keep_unknown(json::value& now, const json::value& before, const Schema& schema) {
    if (schema.kind == Kind::list && now.is_array() && before.is_array()) {
        auto there = before.get_array().begin();
        for (json::value& element : now.get_array()) {
            const auto same = std::find_if(there, before.get_array().end(),
                                           [&](const json::value& old) { return says(old, element); });
            if (same == before.get_array().end()) continue;
            keep_unknown(element, *same, *schema.element);
            there = std::next(same);
        }
        return;
    }
    if (schema.kind == Kind::map && now.is_object() && before.is_object()) {
        for (auto& entry : now.get_object())
            if (const json::value* old = before.get_object().if_contains(entry.key()))
                keep_unknown(entry.value(), *old, *schema.element);
        return;
    }
    if (schema.kind != Kind::object || !now.is_object() || !before.is_object()) return;
    json::object& object = now.get_object();
    for (const auto& entry : before.get_object()) {
        const Property* property = schema.find(entry.key());
        if (!property)
            object.emplace(entry.key(), entry.value());
        else if (json::value* inner = object.if_contains(entry.key()))
            keep_unknown(*inner, entry.value(), *property->schema);
    }
}

void take_equal(json::object& from, const json::object& usual) {
    for (const auto& [name, value] : usual) {
        const auto at = from.find(name);
        if (at == from.end()) continue;
        if (at->value().is_object() && value.is_object()) {
            take_equal(at->value().get_object(), value.get_object());
            if (at->value().get_object().empty()) from.erase(at);
        } else if (at->value() == value) {
            from.erase(at);
        }
    }
}

}  // namespace

std::string without(const std::string& text, const std::string& usual) {
    auto now = parse_json(text, std::size_t{64} << 20);
    const auto other = parse_json(usual, std::size_t{64} << 20);
    if (!now || !other || !now->is_object() || !other->is_object()) return text;
    take_equal(now->get_object(), other->get_object());
    return json::serialize(*now);
}

std::string merged(std::string text, std::string_view before, const Schema& schema) {
    if (before.empty()) return text;
    const auto old = parse_json(before, std::size_t{64} << 20);
    auto now = parse_json(text, std::size_t{64} << 20);
    if (!old || !now) return text;
    keep_unknown(*now, *old, schema);
    return json::serialize(*now);
}

}  // namespace detail
}  // namespace hostler::api
