#include "cli/documents.h"

#include <fmt/format.h>

#include <fstream>

#include "api/codec.h"

namespace hostler::cli {

namespace {

constexpr std::size_t file_max = std::size_t{4} << 20;
constexpr std::size_t documents_max = 10'000;

// JSON is read by its own rules; YAML, which reads most of it, too, only tells the lines.
Result<std::vector<Document>> parse(const std::string& text, std::string_view name) {
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool maybe_json =
        name.ends_with(".json") || (first != text.npos && (text[first] == '{' || text[first] == '['));
    if (!maybe_json) return parse_yaml(text);
    auto json = api::parse_json(text, file_max);
    auto yaml = parse_yaml(text);
    if (!json) {
        if (yaml && !name.ends_with(".json")) return yaml;
        return std::unexpected(std::move(json).error());
    }
    Document document{.value = std::move(*json)};
    if (yaml && yaml->size() == 1) document.lines = std::move(yaml->front().lines);
    std::vector<Document> documents;
    documents.push_back(std::move(document));
    return documents;
}

// The elements of a list, as documents with their own lines.
std::vector<Document> split(Document whole) {
    std::vector<Document> parts;
    std::size_t i = 0;
    for (json::value& value : whole.value.get_array()) {
        Document part{.value = std::move(value)};
        const std::string prefix = fmt::format("[{}]", i++);
        for (auto at = whole.lines.lower_bound(prefix);
             at != whole.lines.end() && at->first.starts_with(prefix); ++at) {
            std::string_view rest = std::string_view(at->first).substr(prefix.size());
            if (rest.starts_with('.')) rest.remove_prefix(1);
            part.lines.emplace(rest, at->second);
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

}  // namespace

Result<std::string> read_text(const std::string& path, const CliWorld& world) {
    std::string text;
    if (path == "-") {
        if (world.in) text = world.in(file_max + 1);
    } else {
        std::ifstream file{path, std::ios::binary};
        text.resize(file_max + 1);
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
        if (file.bad() || (text.empty() && !file.eof()))
            return fail(Code::invalid, fmt::format("{} cannot be read", path));
    }
    if (text.size() > file_max)
        return fail(Code::invalid, fmt::format("{} is larger than {} MiB",
                                               path == "-" ? "standard input" : path, file_max >> 20));
    return text;
}

Result<std::vector<Document>> read_documents(const std::string& path, const CliWorld& world) {
    const std::string name = path == "-" ? "standard input" : path;
    const std::string text = TRY(read_text(path, world));
    auto parsed = parse(text, path);
    if (!parsed) {
        Error error = std::move(parsed).error();
        error.message = fmt::format("{}: {}", name, error.message);
        return std::unexpected(std::move(error));
    }
    std::vector<Document> documents;
    for (Document& one : *parsed) {
        if (one.value.is_null()) continue;
        if (!one.value.is_array()) {
            documents.push_back(std::move(one));
            continue;
        }
        for (Document& part : split(std::move(one))) documents.push_back(std::move(part));
    }
    if (documents.empty()) return fail(Code::invalid, fmt::format("{}: there is nothing in it", name));
    if (documents.size() > documents_max)
        return fail(Code::invalid, fmt::format("{}: there are more than {} documents", name, documents_max));
    int number = 0;
    for (Document& one : documents) {
        one.file = name;
        one.number = ++number;
        one.only = documents.size() == 1;
        if (!one.value.is_object())
            return fail(Code::invalid,
                        fmt::format("{}: must be an object of fields, not a single value", one.place()));
    }
    return documents;
}

}  // namespace hostler::cli
