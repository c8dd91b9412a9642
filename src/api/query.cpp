#include "api/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "api/schema.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "domain/scheduler/place.h"

namespace hostler::api {

namespace {

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_comparison(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

std::string names_of(std::span<const QueryField> fields) {
    std::string all;
    for (const QueryField& field : fields) all += fmt::format("{}{}", all.empty() ? "" : ", ", field.name);
    return all;
}

std::size_t find(std::span<const QueryField> fields, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(fields, name, &QueryField::name) - fields.begin());
}

std::string no_field(std::span<const QueryField> fields, std::string_view name) {
    std::vector<std::string_view> names;
    for (const QueryField& field : fields) names.push_back(field.name);
    const auto meant = nearest(name, names);
    return meant.empty() ? fmt::format("there is no field '{}'; there are {}", name, names_of(fields))
                         : fmt::format("there is no field '{}'; did you mean '{}'? There are {}", name, meant,
                                       names_of(fields));
}

std::string_view wrong_number(QueryKind kind) {
    switch (kind) {
        case QueryKind::number: return "is no whole number";
        case QueryKind::money: return "is no sum such as 2.49";
        case QueryKind::time: return "is no time such as 2026-11-28T10:00:00Z";
        case QueryKind::cpus:
        case QueryKind::bytes: return "is no quantity such as 4, 500m or 80Gi";
        case QueryKind::text:
        case QueryKind::words: break;
    }
    return "is not taken";
}

Result<Query> answer(Query query, std::vector<FieldError> wrong) {
    if (wrong.empty()) return query;
    Error error{Code::invalid, wrong.size() == 1 ? "one term is wrong" : "several terms are wrong",
                "invalid"};
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

class Parser {
public:
    Parser(std::string_view text, std::span<const QueryField> fields, std::string_view name)
        : text_(text), fields_(fields), name_(name) {}

    Result<Query> run() {
        if (text_.size() > query_length_max) {
            wrong(query_length_max, fmt::format("it is longer than {} characters", query_length_max));
            return answer(std::move(query_), std::move(wrong_));
        }
        std::size_t joined = 0;  // Where an "and" stands behind which nothing has come.
        for (skip_blanks(); !at_end(); skip_blanks()) {
            const std::size_t begin = at_;
            if (query_.size() == query_terms_max) {
                wrong(begin, fmt::format("there are more than {} terms", query_terms_max));
                break;
            }
            if (takes_and()) {
                if (joined != 0 || begin == first_) wrong(begin, "'and' stands between two terms");
                joined = begin + 1;
                continue;
            }
            joined = 0;
            if (!term(begin)) skip_word();
        }
        if (joined != 0) wrong(joined - 1, "nothing follows this 'and'");
        return answer(std::move(query_), std::move(wrong_));
    }

private:
    bool at_end() const { return at_ == text_.size(); }
    char now() const { return text_[at_]; }
    void skip_blanks() {
        while (!at_end() && is_blank(now())) ++at_;
        if (first_ == text_.npos) first_ = at_;
    }
    // To where the next term may begin.
    void skip_word() {
        while (!at_end() && !is_blank(now())) ++at_;
    }
    void wrong(std::size_t at, std::string what) {
        if (wrong_.size() < query_terms_max)
            wrong_.push_back({std::string{name_}, fmt::format("at {}: {}", at + 1, what)});
    }
    std::string_view word() {
        const std::size_t begin = at_;
        while (!at_end() && is_name(now())) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    bool takes_and() {
        const std::size_t begin = at_;
        const std::string_view found = word();
        const bool is_and = found == "and" || found == "AND";
        if (is_and && (at_end() || is_blank(now()))) {
            std::size_t next = at_;
            while (next < text_.size() && is_blank(text_[next])) ++next;
            if (next == text_.size() || !is_comparison(text_[next])) return true;
        }
        at_ = begin;
        return false;
    }

    // What to write instead of a word that stands alone: it is a field, or the value of one.
    std::string bare(std::string_view word) const {
        if (find(fields_, word) < fields_.size())
            return fmt::format("'{0}' is not compared with anything; write {0}=VALUE", word);
        const QueryField* of = nullptr;
        for (const QueryField& field : fields_) {
            const bool is_choice = fmt::format(" {} ", field.choices).contains(fmt::format(" {} ", word));
            if (is_choice || (!of && field.kind == QueryKind::words)) of = &field;
            if (is_choice) break;
        }
        return of ? fmt::format("'{0}' has no field in front; write {1}={0}", word, of->name)
                  : fmt::format("'{}' has no field in front; there are {}", word, names_of(fields_));
    }

    // false: there is no knowing where it ends.
    bool term(std::size_t begin) {
        const std::string_view field = word();
        if (field.empty()) {
            wrong(begin, "a term begins with the name of a field, as in zone=lon");
            return false;
        }
        skip_blanks();
        QueryTerm made{.at = begin + 1};
        if (!comparison(begin, field, made.comparison) || !values(made)) return false;
        check(field, made);
        return true;
    }

    bool comparison(std::size_t begin, std::string_view field, Comparison& into) {
        const std::size_t from = at_;
        while (!at_end() && is_comparison(now())) ++at_;
        const std::string_view found = text_.substr(from, at_ - from);
        if (found == "=")
            into = Comparison::equal;
        else if (found == "!=")
            into = Comparison::differs;
        else if (found == ">=")
            into = Comparison::at_least;
        else if (found == "<=")
            into = Comparison::at_most;
        else if (found == ">")
            into = Comparison::more;
        else if (found == "<")
            into = Comparison::less;
        else {
            if (found.empty()) at_ = begin + field.size();  // The next term may be all right.
            wrong(found.empty() ? begin : from,
                  found.empty() ? bare(field) : fmt::format("'{}' is none of = != >= <= > <", found));
            return false;
        }
        return true;
    }

    bool values(QueryTerm& into) {
        while (true) {
            skip_blanks();
            const std::size_t begin = at_;
            std::string value;
            if (!at_end() && (now() == '"' || now() == '\'')) {
                const std::size_t end = text_.find(now(), begin + 1);
                if (end == text_.npos) {
                    wrong(begin, "this quotation mark is never closed");
                    at_ = text_.size();
                    return false;
                }
                value = text_.substr(begin + 1, end - begin - 1);
                at_ = end + 1;
            } else {
                while (!at_end() && !is_blank(now()) && now() != ',' && now() != '"' && now() != '\'' &&
                       !is_comparison(now()))
                    ++at_;
                value = text_.substr(begin, at_ - begin);
            }
            if (at_ == begin) {
                wrong(begin, "a value is missing here");
                return false;
            }
            into.texts.push_back(std::move(value));
            if (into.texts.size() > query_values_max) {
                wrong(begin, fmt::format("there are more than {} values", query_values_max));
                return false;
            }
            const std::size_t end = at_;
            std::size_t next = at_;
            while (next < text_.size() && is_blank(text_[next])) ++next;
            if (next < text_.size() && text_[next] == ',') {
                at_ = next + 1;
                continue;
            }
            if (end == text_.size() || is_blank(text_[end])) return true;
            wrong(end, "a blank is missing here; values with blanks and signs stand in quotation marks");
            return false;
        }
    }

    // What it means.
    void check(std::string_view name, QueryTerm& made) {
        const std::size_t begin = made.at - 1;
        made.field = find(fields_, name);
        if (made.field == fields_.size()) return wrong(begin, no_field(fields_, name));
        const QueryField& field = fields_[made.field];
        const bool is_text = field.kind == QueryKind::text || field.kind == QueryKind::words;
        const bool orders = made.comparison != Comparison::equal && made.comparison != Comparison::differs;
        if (is_text && orders)
            return wrong(begin, fmt::format("{} is compared with = and != only", field.name));
        if (orders && made.texts.size() > 1) return wrong(begin, "only = and != take several values");
        if (is_text)
            for (const std::string& text : made.texts)
                if (!text.empty() && !field.choices.empty() && !is_word_of(field.choices, text))
                    return wrong(begin, fmt::format("{}: '{}' is none of {}", field.name, text,
                                                    listed(field.choices)));
        if (!is_text)
            for (const std::string& text : made.texts) {
                const auto number = query_number(field.kind, text);
                if (!number)
                    return wrong(begin,
                                 fmt::format("{}: '{}' {}", field.name, text, wrong_number(field.kind)));
                made.numbers.push_back(*number);
            }
        query_.push_back(std::move(made));
    }

    static std::string listed(std::string_view words) {
        std::string all;
        for (const char c : words) all += c == ' ' ? std::string{", "} : std::string{c};
        return all;
    }

    static bool is_word_of(std::string_view words, std::string_view text) {
        for (const auto word : std::views::split(words, ' '))
            if (std::string_view{word} == text) return true;
        return false;
    }

    std::string_view text_;
    std::span<const QueryField> fields_;
    std::string_view name_;
    std::size_t at_ = 0;
    std::size_t first_ = std::string_view::npos;  // Where it begins, blanks left out.
    Query query_;
    std::vector<FieldError> wrong_;
};

template <class T>
bool compared(Comparison comparison, const T& value, const T& with) {
    switch (comparison) {
        case Comparison::equal:
        case Comparison::differs: return value == with;
        case Comparison::at_least: return value >= with;
        case Comparison::at_most: return value <= with;
        case Comparison::more: return value > with;
        case Comparison::less: return value < with;
    }
    return false;
}

}  // namespace

Result<Query> parse_query(std::string_view text, std::span<const QueryField> fields, std::string_view name) {
    return Parser{text, fields, name}.run();
}

std::optional<std::int64_t> query_number(QueryKind kind, const std::string& text) {
    if (kind == QueryKind::money) {
        const auto sum = parse_money(text);
        return sum ? std::optional{*sum} : std::nullopt;
    }
    if (kind == QueryKind::time) {
        const auto time = parse_rfc3339(text);
        return time ? std::optional{query_time(*time)} : std::nullopt;
    }
    const bool plain = text.find_first_not_of("0123456789.") == text.npos;
    if (kind == QueryKind::number && !plain) return std::nullopt;
    const auto quantity = parse_quantity(kind == QueryKind::bytes && plain ? text + "Gi" : text);
    if (!quantity || quantity->milli < 0) return std::nullopt;
    if (kind == QueryKind::cpus) return quantity->milli;
    if (kind == QueryKind::number && quantity->milli % 1000 != 0) return std::nullopt;
    return quantity->units();
}

std::int64_t query_time(WallTime time) { return time.time_since_epoch() / std::chrono::microseconds{1}; }

bool matches(const QueryTerm& term, QueryKind kind, const QueryValue& value) {
    bool any = false;
    if (const auto* text = std::get_if<std::string>(&value)) {
        any = std::ranges::any_of(term.texts, [&](const std::string& with) {
            return kind == QueryKind::words ? model_matches(with, *text) : with == *text;
        });
    } else {
        any = std::ranges::any_of(term.numbers, [&](std::int64_t with) {
            return compared(term.comparison, std::get<std::int64_t>(value), with);
        });
    }
    return any != (term.comparison == Comparison::differs);
}

Result<std::vector<OrderBy>> parse_order(std::string_view text, std::span<const QueryField> fields,
                                         std::string_view name) {
    std::vector<OrderBy> order;
    Error error{Code::invalid, "the order is wrong", "invalid"};
    const auto wrong = [&](std::string what) {
        if (error.fields.size() < query_terms_max)
            error.fields.push_back({std::string{name}, std::move(what)});
    };
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        std::string_view one = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const bool highest_first = one.starts_with('-');
        if (highest_first) one.remove_prefix(1);
        const std::size_t field = find(fields, one);
        if (field == fields.size())
            wrong(no_field(fields, one));
        else if (std::ranges::count(order, field, &OrderBy::field) > 0)
            wrong(fmt::format("{} stands twice", one));
        else
            order.push_back({field, highest_first});
    }
    if (!error.fields.empty()) return std::unexpected(std::move(error));
    return order;
}

}  // namespace hostler::api
