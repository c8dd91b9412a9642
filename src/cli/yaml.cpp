#include "cli/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "api/codec.h"
#include "api/indent.h"
#include "core/safe_text.h"
#include "core/utf8.h"

namespace hostler::cli {

namespace {

constexpr std::size_t nodes_max = 100'000;               // Of all documents, with what aliases stand for.
constexpr std::size_t bytes_max = std::size_t{8} << 20;  // Of their texts.
constexpr std::size_t path_max = 512;                    // Longer ones have no line of their own.

bool is_json_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto digits = [&] {
        const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(end);
        return end;
    };
    const bool zero = text.starts_with('0');
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (digits() == 0) return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
        if (digits() == 0) return false;
    }
    return text.empty();
}

// A scalar without quotes. What YAML's versions disagree on stays a text.
json::value plain(const std::string& text) {
    if (text == "true") return true;
    if (text == "false") return false;
    if (is_json_number(text))
        if (auto number = api::parse_json(text)) return *number;
    return json::string(text);
}

struct Size {
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t depth = 1;

    void add(const Size& inner) {
        nodes += inner.nodes;
        bytes += inner.bytes;
        depth = std::max(depth, inner.depth + 1);
    }
};

Size size_of(const json::value& value) {
    Size size;
    if (const auto* text = value.if_string()) size.bytes = text->size();
    if (const auto* array = value.if_array())
        for (const json::value& one : *array) size.add(size_of(one));
    if (const auto* object = value.if_object())
        for (const auto& entry : *object) {
            size.bytes += entry.key().size();
            size.add(size_of(entry.value()));
        }
    return size;
}

// Makes values of the parser's events. The first complaint stays; what comes behind it is passed over.
class Builder : public YAML::EventHandler {
public:
    std::vector<Document> documents;
    std::optional<Error> error;

    void OnDocumentStart(const YAML::Mark& mark) override {
        // The parser never takes a token that can begin nothing, as a comma: each document is nothing, and
        // begins there.
        if (!documents.empty() && mark.pos == begun_) return complain(mark, "this does not belong here");
        begun_ = mark.pos;
        open_.clear();
        anchors_.clear();
        documents.push_back({.number = static_cast<int>(documents.size()) + 1});
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (wants_key()) return complain(mark, "a key must be a text");
        take(mark, anchor, nullptr);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (error) return;
        if (wants_key()) return complain(mark, "a key must be a text");
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) return complain(mark, "an alias stands inside what it refers to");
        take(mark, 0, found->second);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (error) return;
        if (!is_utf8(value)) return complain(mark, "the text is not UTF-8");
        if (wants_key()) return take_key(mark, tag, value);
        const bool text = tag == "!" || tag == "tag:yaml.org,2002:str";
        if (!text && !is_core(tag)) return complain(mark, fmt::format("the tag {} has no type in JSON", tag));
        take(mark, anchor, text ? json::value(json::string(value)) : plain(value));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, json::array{});
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, json::object{});
    }
    void OnMapEnd() override { end(); }

private:
    struct Open {
        json::value value;
        std::optional<std::string> key;
        YAML::anchor_t anchor;
        std::string path;
    };

    static bool is_core(std::string_view tag) {
        if (tag == "?" || tag.empty()) return true;
        for (const std::string_view known : {"int", "float", "bool", "null", "map", "seq"})
            if (tag == fmt::format("tag:yaml.org,2002:{}", known)) return true;
        return false;
    }

    void complain(const YAML::Mark& mark, std::string what) {
        if (!error)
            error =
                Error{.code = Code::invalid,
                      .message = fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, what)};
    }

    bool wants_key() const { return !open_.empty() && open_.back().value.is_object() && !open_.back().key; }

    void take_key(const YAML::Mark& mark, const std::string& tag, const std::string& key) {
        if (tag == "?" && key == "<<")
            return complain(
                mark, "<< merges maps in YAML 1.1 only; write the fields, or an alias for a whole value");
        if (open_.back().value.get_object().contains(key))
            return complain(mark, fmt::format("'{}' appears twice", key.substr(0, 128)));
        bytes_ += key.size();
        open_.back().key = key;
    }

    // Of the value that comes next; "" where it would be too long to be kept.
    std::string next_path() const {
        if (open_.empty()) return {};
        const Open& parent = open_.back();
        std::string path = parent.path;
        if (parent.value.is_array()) {
            path += fmt::format("[{}]", parent.value.get_array().size());
        } else {
            if (!path.empty()) path += '.';
            path += parent.key.value_or("").substr(0, path_max);
        }
        return path.size() > path_max ? "" : path;
    }

    void note_line(const YAML::Mark& mark, const std::string& path) {
        if (!path.empty() || open_.empty()) documents.back().lines.insert_or_assign(path, mark.line + 1);
    }

    bool fits(const YAML::Mark& mark, const Size& size) {
        nodes_ += size.nodes;
        bytes_ += size.bytes;
        if (open_.size() + size.depth > api::depth_max)
            complain(mark, fmt::format("nested more than {} deep", api::depth_max));
        else if (nodes_ > nodes_max)
            complain(mark, fmt::format("there are more than {} values, with those that aliases stand for",
                                       nodes_max));
        else if (bytes_ > bytes_max)
            complain(mark,
                     fmt::format("the texts are larger than {} bytes, with those that aliases stand for",
                                 bytes_max));
        return !error;
    }

    void take(const YAML::Mark& mark, YAML::anchor_t anchor, const json::value& value) {
        if (error || !fits(mark, size_of(value))) return;
        note_line(mark, next_path());
        if (anchor != 0) anchors_[anchor] = value;
        attach(value);
    }

    void attach(json::value value) {
        if (open_.empty()) {
            documents.back().value = std::move(value);
            return;
        }
        Open& parent = open_.back();
        if (parent.value.is_array())
            parent.value.get_array().push_back(std::move(value));
        else
            parent.value.get_object()[*std::exchange(parent.key, std::nullopt)] = std::move(value);
    }

    void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, json::value empty) {
        if (error) return;
        if (wants_key()) return complain(mark, "a key must be a text");
        if (tag != "!" && !is_core(tag))
            return complain(mark, fmt::format("the tag {} has no type in JSON", tag));
        if (!fits(mark, {})) return;
        std::string path = next_path();
        note_line(mark, path);
        open_.push_back({std::move(empty), std::nullopt, anchor, std::move(path)});
    }

    void end() {
        if (error) return;
        Open ended = std::move(open_.back());
        open_.pop_back();
        if (ended.anchor != 0) anchors_[ended.anchor] = ended.value;
        attach(std::move(ended.value));
    }

    int begun_ = 0;  // Where the newest document begins.
    std::vector<Open> open_;
    std::map<YAML::anchor_t, json::value> anchors_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

// ---- writing

constexpr std::size_t plain_key_max = 1024;  // Bytes; YAML takes longer keys behind a '?' only.

bool plain_in_yaml(std::string_view text) {
    if (text.empty() || text.front() == '-' || text.front() == '.') return false;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!std::all_of(text.begin(), text.end(), [&](char c) {
            return is_letter(c) || is_digit(c) || std::string_view("_./-").contains(c);
        }))
        return false;
    std::string low{text};
    for (char& c : low) c = is_letter(c) ? static_cast<char>(c | 0x20) : c;
    for (const std::string_view word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
        if (low == word) return false;
    return !is_digit(text.front());
}

// JSON's quoting is YAML's, but for the end of the basic plane, which YAML wants escaped.
std::string quoted(std::string_view text) {
    std::string out;
    const std::string json_text = safe_line(json::serialize(json::string(text)));
    for (std::size_t i = 0; i < json_text.size(); ++i) {
        const std::string_view rest = std::string_view(json_text).substr(i);
        const bool last = rest.starts_with("\uFFFE") || rest.starts_with("\uFFFF");
        out += last ? (rest.starts_with("\uFFFE") ? "\\ufffe" : "\\uffff") : std::string(1, json_text[i]);
        if (last) i += 2;
    }
    return out;
}

std::string word(std::string_view text) { return plain_in_yaml(text) ? std::string(text) : quoted(text); }

void write(std::string& out, const json::value& value, std::size_t depth) {
    const auto inner = [&](const json::value& v) {
        const bool block =
            (v.is_object() && !v.get_object().empty()) || (v.is_array() && !v.get_array().empty());
        out += block ? '\n' : ' ';
        write(out, v, block ? depth + 1 : depth);
        if (!block) out += '\n';
    };
    if (const auto* object = value.if_object(); object && !object->empty()) {
        for (const auto& entry : *object) {
            const std::string key = word(entry.key());
            out.append(depth * 2, ' ');
            if (key.size() <= plain_key_max)
                out.append(key);
            else
                out.append("? ").append(key).append("\n").append(depth * 2, ' ');
            out += ':';
            inner(entry.value());
        }
    } else if (const auto* array = value.if_array(); array && !array->empty()) {
        for (const auto& element : *array) {
            std::string item;
            if (element.is_object() && !element.get_object().empty()) {
                write(item, element, depth + 1);  // Its first line begins beside the dash.
                out.append(depth * 2, ' ').append("- ").append(item.substr((depth + 1) * 2));
            } else {
                out.append(depth * 2, ' ').append("-");
                inner(element);
            }
        }
    } else if (const auto* text = value.if_string()) {
        out += word(*text);
    } else {
        out += api::compact(value);
    }
}

}  // namespace

std::string Document::place(std::string_view path) const {
    std::string out = file;
    for (std::string_view at = path;;) {
        if (const auto found = lines.find(at); found != lines.end()) {
            out += fmt::format(":{}", found->second);
            break;
        }
        if (at.empty()) break;
        const auto cut = at.find_last_of(".[");
        at = at.substr(0, cut == at.npos ? 0 : cut);
    }
    if (!only) out += fmt::format(", document {}", number);
    return out;
}

Result<std::vector<Document>> parse_yaml(std::string_view text) {
    Builder builder;
    try {
        std::istringstream in{std::string(text)};
        YAML::Parser parser{in};
        while (!builder.error && parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        if (!builder.error)
            builder.error =
                Error{.code = Code::invalid,
                      .message = error.mark.is_null()
                                     ? fmt::format("malformed YAML: {}", error.msg)
                                     : fmt::format("line {}, column {}: malformed YAML: {}",
                                                   error.mark.line + 1, error.mark.column + 1, error.msg)};
    }
    if (builder.error) return std::unexpected(std::move(*builder.error));
    return std::move(builder.documents);
}

std::string to_yaml(const json::value& value) {
    std::string out;
    write(out, value, 0);
    if (!out.ends_with('\n')) out += '\n';
    return out;
}

}  // namespace hostler::cli
