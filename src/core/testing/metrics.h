// For tests: reads a page of metrics strictly, as version 0.0.4 of Prometheus's text format has it.
#pragma once

#include <charconv>
#include <map>
#include <set>
#include <string>

#include "core/result.h"

namespace hostler::testing {

// Name with labels, as "name{label=\"value\"}", and value. Errors: invalid (with the line).
inline Result<std::map<std::string, double>> parse_metrics(std::string_view text) {
    std::map<std::string, double> values;
    std::set<std::string, std::less<>> begun, typed;
    std::string helped, now;  // The metric of the last HELP, and of the last TYPE.
    const auto is_name = [](std::string_view name) {
        if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
        return std::ranges::all_of(name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    };
    bool counter = false;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == text.npos) return fail(Code::invalid, "the last line has no end");
        const std::string line{text.substr(0, end)};
        text.remove_prefix(end + 1);
        const auto wrong = [&](const char* why) {
            return std::unexpected(Error{Code::invalid, std::string{why} + ": " + line, "", {}, {}});
        };
        if (line.starts_with("# HELP ")) {
            const auto space = line.find(' ', 7);
            if (space == line.npos || space + 1 == line.size()) return wrong("no help");
            helped = line.substr(7, space - 7);
            if (!is_name(helped)) return wrong("no name");
            if (!begun.insert(helped).second) return wrong("a second time");
            continue;
        }
        if (line.starts_with("# TYPE ")) {
            const auto space = line.find(' ', 7);
            if (space == line.npos) return wrong("no type");
            now = line.substr(7, space - 7);
            if (now != helped || !typed.insert(now).second) return wrong("a type without help");
            const std::string type = line.substr(space + 1);
            if (type != "gauge" && type != "counter") return wrong("no such type");
            counter = type == "counter";
            if (counter != now.ends_with("_total")) return wrong("counters, and they alone, end in _total");
            continue;
        }
        std::size_t at = line.find_first_of("{ ");
        if (at == line.npos || line.substr(0, at) != now) return wrong("not of the metric begun");
        if (line[at] == '{') {
            do {
                const auto equals = line.find('=', ++at);
                if (equals == line.npos || !is_name(std::string_view{line}.substr(at, equals - at)))
                    return wrong("no label");
                at = equals + 1;
                if (line[at] != '"') return wrong("no quote");
                for (++at; at < line.size() && line[at] != '"'; ++at) {
                    if (line[at] != '\\') continue;
                    if (++at == line.size() ||
                        std::string_view{"\\\"n"}.find(line[at]) == std::string_view::npos)
                        return wrong("not escaped");
                }
                if (++at >= line.size()) return wrong("no end of labels");
            } while (line[at] == ',');
            if (line[at] != '}' || ++at >= line.size() || line[at] != ' ') return wrong("no end of labels");
        }
        double value = 0;
        const char* last = line.data() + line.size();
        const auto read = std::from_chars(line.data() + at + 1, last, value);
        if (read.ec != std::errc{} || read.ptr != last) return wrong("no number");
        if (counter && value < 0) return wrong("a counter below zero");
        if (!values.emplace(line.substr(0, at), value).second) return wrong("a second value");
    }
    for (const std::string& name : begun)
        if (!typed.contains(name)) return fail(Code::invalid, "without a type: " + name);
    return values;
}

}  // namespace hostler::testing
