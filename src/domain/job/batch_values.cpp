#include "domain/job/batch_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace hostler::batch {

namespace {

std::unexpected<Error> wrong(std::string message) { return fail(Code::invalid, std::move(message)); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
std::string upper(std::string_view text) {
    std::string large(text);
    for (char& c : large) c = upper(c);
    return large;
}

// Digits and nothing else, up to max; nullopt otherwise.
std::optional<std::int64_t> digits(std::string_view text, std::int64_t max) {
    std::int64_t number = 0;
    if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number > max) return std::nullopt;
    return number;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (auto end = text.find(at); end != text.npos; end = text.find(at)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

}  // namespace

Result<std::int64_t> read_number(std::string_view value, std::int64_t min, std::int64_t max) {
    const auto number = digits(value, max);
    if (!number || *number < min)
        return wrong(fmt::format("'{}' is not a whole number from {} to {}", value, min, max));
    return *number;
}

Result<std::int64_t> read_time(std::string_view value) {
    const std::string large = upper(value);
    if (large == "UNLIMITED" || large == "INFINITE") return 0;
    const auto bad = [&] {
        return wrong(
            fmt::format("'{}' is no time up to 366 days; write minutes, 1:30 (minutes, seconds), "
                        "2:00:00, 1-12 (days, hours), 1-12:30 or 1-12:30:00",
                        value));
    };
    constexpr std::int64_t part_max = 100'000'000;
    const auto dash = value.find('-');
    std::array<std::int64_t, 4> parts{};  // Days, hours, minutes, seconds.
    if (dash != value.npos) {
        const auto days = digits(value.substr(0, dash), part_max);
        if (!days) return bad();
        parts[0] = *days;
    }
    const auto texts = split(dash == value.npos ? value : value.substr(dash + 1), ':');
    if (texts.size() > 3) return bad();
    // After days come hours; without days, one part is minutes, two are minutes and seconds.
    std::size_t at = dash != value.npos || texts.size() == 3 ? 1 : 2;
    for (const std::string_view text : texts) {
        const auto part = digits(text, part_max);
        if (!part) return bad();
        parts[at++] = *part;
    }
    const std::int64_t seconds = ((parts[0] * 24 + parts[1]) * 60 + parts[2]) * 60 + parts[3];
    constexpr std::int64_t max_s = 366LL * 24 * 3600;
    if (seconds > max_s) return bad();
    return (seconds + 59) / 60 * 60;
}

Result<std::int64_t> read_memory(std::string_view value) {
    const auto bad = [&](std::string_view why) {
        return wrong(
            fmt::format("'{}' {}; write a whole number with K, M, G or T, as 500M or 16G", value, why));
    };
    std::string_view number = value;
    if (number.size() > 1 && upper(number.back()) == 'B' && !is_digit(number[number.size() - 2]))
        number.remove_suffix(1);
    constexpr std::string_view units = "KMGT";
    std::size_t unit = 1;
    if (!number.empty() && !is_digit(number.back())) {
        unit = units.find(upper(number.back()));
        if (unit == units.npos) return bad("is no amount of memory");
        number.remove_suffix(1);
    }
    const int shift = 10 * (static_cast<int>(unit) + 1);
    const auto count = digits(number, std::numeric_limits<std::int64_t>::max() >> (shift + 8));
    if (!count) return bad("is no amount of memory");
    if (*count == 0) return bad("would be all memory of a host, which is not given");
    return *count << shift;
}

Result<> read_nodes(std::string_view value) {
    const auto dash = value.find('-');
    constexpr std::int64_t max = 1'000'000;
    const auto first = digits(value.substr(0, dash), max);
    const auto last = dash == value.npos ? first : digits(value.substr(dash + 1), max);
    if (!first || !last || *first < 1 || *last < *first)
        return wrong(fmt::format("'{}' is no number of hosts; write 1", value));
    if (*first > 1)
        return wrong(
            fmt::format("{} hosts are asked for; a gang stays on one host until networks span hosts: "
                        "write 1, and ask for all tasks and GPUs on that host",
                        *first));
    return {};
}

Result<GpuAsk> read_gpus(std::string_view value) {
    const auto colon = value.find(':');
    GpuAsk ask;
    if (colon != value.npos) ask.type = value.substr(0, colon);
    const bool named = std::ranges::all_of(
        ask.type, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; });
    const auto count = digits(colon == value.npos ? value : value.substr(colon + 1), gpus_asked_max);
    if (!count || !named || (colon != value.npos && ask.type.empty()))
        return wrong(fmt::format("'{}' is no number of GPUs; write 2 or TYPE:2, with one type", value));
    ask.count = *count;
    return ask;
}

Result<GpuAsk> read_gres(std::string_view value) {
    if (value == "none") return GpuAsk{};
    if (value == "gpu") return GpuAsk{"", 1};
    if (value.starts_with("gpu:")) {
        const std::string_view rest = value.substr(4);
        const bool typed_only =
            !rest.empty() && rest.find(':') == rest.npos && !std::ranges::all_of(rest, is_digit);
        const auto ask = read_gpus(typed_only ? std::string(rest) + ":1" : std::string(rest));
        if (ask) return *ask;
    }
    return wrong(fmt::format("'{}' is not read; write gpu:2 or gpu:TYPE:2", value));
}

Result<std::vector<BatchDependency>> read_dependencies(std::string_view value) {
    constexpr std::string_view notation =
        "write afterok:ID[:ID], with afterok, afterany, afternotok or after, "
        "and commas between them";
    if (value.find('?') != value.npos)
        return wrong("'?' (any of them) is not read; join them by commas, and all must be met");
    std::vector<BatchDependency> found;
    for (const std::string_view part : split(value, ',')) {
        const auto names = split(part, ':');
        const std::string kind = upper(names.front());
        constexpr std::array kinds = {std::pair{"AFTEROK", After::ok}, std::pair{"AFTERANY", After::any},
                                      std::pair{"AFTERNOTOK", After::not_ok},
                                      std::pair{"AFTER", After::start}};
        const auto known = std::ranges::find_if(kinds, [&](const auto& one) { return kind == one.first; });
        if (known == kinds.end() || names.size() < 2)
            return wrong(fmt::format("'{}' is no dependency that is read; {}", part, notation));
        for (std::size_t i = 1; i < names.size(); ++i) {
            if (names[i].find('+') != names[i].npos)
                return wrong(fmt::format("'{}' has a delay, which is not read; leave out '+'", part));
            const bool plain = std::ranges::all_of(
                names[i], [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
            if (names[i].empty() || names[i].size() > 128 || !plain)
                return wrong(fmt::format("'{}' has no job's id where one must be; {}", part, notation));
            found.push_back({known->second, std::string(names[i])});
        }
    }
    return found;
}

Result<BatchEnvironment> read_environment(std::string_view value) {
    // Quotes keep commas together and are part of the value, as in Slurm.
    std::vector<std::string> parts(1);
    char quote = 0;
    for (const char c : value) {
        if (c == ',' && quote == 0) {
            parts.emplace_back();
            continue;
        }
        if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        }
        parts.back() += c;
    }
    if (quote != 0) return wrong(fmt::format("'{}' has a quote without its end", value));
    BatchEnvironment environment{.all = false, .names = {}, .set = {}};
    for (const std::string& part : parts) {
        const auto equal = part.find('=');
        const std::string name = part.substr(0, equal);
        const bool is_name =
            !name.empty() && name.size() <= 256 && !is_digit(name.front()) &&
            std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
        if (!is_name)
            return wrong(
                fmt::format("'{}' is no variable; write ALL, NONE, NAME or NAME=value, with commas "
                            "between them",
                            part));
        if (equal != part.npos)
            environment.set.push_back({name, part.substr(equal + 1)});
        else if (name == "ALL")
            environment.all = true;
        else if (name != "NONE")
            environment.names.push_back(name);
    }
    return environment;
}

Result<BatchSignal> read_signal(std::string_view value) {
    // Those that sbatch knows; numbers of Linux.
    constexpr std::array<std::pair<std::string_view, int>, 15> signals = {{{"HUP", 1},
                                                                           {"INT", 2},
                                                                           {"QUIT", 3},
                                                                           {"ABRT", 6},
                                                                           {"KILL", 9},
                                                                           {"USR1", 10},
                                                                           {"USR2", 12},
                                                                           {"ALRM", 14},
                                                                           {"TERM", 15},
                                                                           {"CONT", 18},
                                                                           {"STOP", 19},
                                                                           {"TSTP", 20},
                                                                           {"TTIN", 21},
                                                                           {"TTOU", 22},
                                                                           {"URG", 23}}};
    BatchSignal signal;
    std::string_view rest = value;
    if (const auto colon = rest.find(':'); colon != rest.npos) {
        if (rest.substr(0, colon) != "B")
            return wrong(fmt::format("'{}:' is not read; before the signal may stand B: alone",
                                     rest.substr(0, colon)));
        signal.shell_only = true;
        rest.remove_prefix(colon + 1);
    }
    if (const auto at = rest.find('@'); at != rest.npos) {
        signal.seconds_before = TRY(read_number(rest.substr(at + 1), 0, 65'535));
        rest = rest.substr(0, at);
    }
    std::string name = upper(rest);
    if (name.starts_with("SIG")) name.erase(0, 3);
    const auto number = digits(name, 64);
    for (const auto& [known, known_number] : signals)
        if (name == known || number == known_number) {
            signal.name = known;
            signal.number = known_number;
            return signal;
        }
    return wrong(
        fmt::format("'{}' is no signal that can be asked for; write [B:]SIGNAL[@seconds], as "
                    "B:USR1@60, with HUP, INT, QUIT, ABRT, KILL, USR1, USR2, ALRM, TERM, CONT, STOP, "
                    "TSTP, TTIN, TTOU or URG",
                    rest));
}

Result<std::string> read_workdir(std::string_view value) {
    for (const std::string_view part : split(value, '/'))
        if (part == "..") return wrong(fmt::format("'{}' has '..' in it; write the folder itself", value));
    if (value.empty() || value.size() > 4096) return wrong("a folder's path has 1 to 4096 characters");
    return std::string(value);
}

}  // namespace hostler::batch
