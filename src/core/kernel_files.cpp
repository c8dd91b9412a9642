#include "core/kernel_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

namespace hostler {

namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool natural_less(const std::string& a, const std::string& b) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            std::size_t p = i;
            std::size_t q = j;
            while (p < a.size() && digit(a[p])) ++p;
            while (q < b.size() && digit(b[q])) ++q;
            if (p - i != q - j) return p - i < q - j;
        }
        if (a[i] != b[j]) return a[i] < b[j];
        ++i;
        ++j;
    }
    return a.size() - i < b.size() - j;
}

}  // namespace

std::optional<std::string> read_bytes(const std::string& path, std::size_t size_max) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    // Most are short, whatever they may be at most.
    constexpr std::size_t first_bytes = 4096;
    std::string text(std::min(size_max + 1, first_bytes), '\0');
    std::size_t size = 0;
    ssize_t n = 0;
    while ((n = read(file, text.data() + size, text.size() - size)) > 0) {
        size += static_cast<std::size_t>(n);
        if (size > size_max) break;
        if (size == text.size()) text.resize(std::min(size_max + 1, 4 * size));
    }
    close(file);
    if (n < 0 || size > size_max) return std::nullopt;
    text.resize(size);
    return text;
}

std::optional<std::string> read_text(const std::string& path, std::size_t size_max) {
    auto text = read_bytes(path, size_max);
    if (!text) return text;
    while (!text->empty() && std::string_view{" \t\r\n"}.find(text->back()) != std::string_view::npos)
        text->pop_back();
    return text;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
    text = trimmed(text);
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) {
        std::uint64_t bits = 0;
        const auto end = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        if (end.ec != std::errc{}) return std::nullopt;
        return static_cast<std::int64_t>(bits);
    }
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
    return value;
}

std::optional<std::int64_t> read_number(const std::string& path) {
    const auto text = read_text(path);
    return text ? parse_number(*text) : std::nullopt;
}

std::vector<std::string> list_folder(const std::string& path, std::size_t names_max) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, decltype([](DIR* folder) { closedir(folder); })> folder{opendir(path.c_str())};
    if (!folder) return names;
    while (const dirent* entry = readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != ".." && names.size() < names_max) names.emplace_back(name);
    }
    std::ranges::sort(names, natural_less);
    return names;
}

std::string link_name(const std::string& path) {
    char target[PATH_MAX];
    const auto size = readlink(path.c_str(), target, sizeof target);
    if (size <= 0) return {};
    const std::string_view text{target, static_cast<std::size_t>(size)};
    return std::string{text.substr(text.rfind('/') + 1)};
}

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, decltype([](char* text) { std::free(text); })> text{
        realpath(path.c_str(), nullptr)};
    return text ? text.get() : std::string{};
}

std::optional<std::string> value_of_line(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(key)) continue;
        auto rest = line.substr(key.size());
        if (rest.empty() || std::string_view{" \t:="}.find(rest.front()) == std::string_view::npos) continue;
        rest = trimmed(rest);
        if (!rest.empty() && (rest.front() == ':' || rest.front() == '=')) rest = trimmed(rest.substr(1));
        if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"')
            rest = rest.substr(1, rest.size() - 2);
        return std::string{rest};
    }
    return std::nullopt;
}

int pcie_generation(std::string_view speed) {
    static constexpr std::string_view speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
    const auto number = speed.substr(0, speed.find(' '));
    for (int i = 0; i < static_cast<int>(std::size(speeds)); ++i) {
        const auto whole = speeds[i].ends_with(".0") ? speeds[i].substr(0, speeds[i].size() - 2) : speeds[i];
        if (number == speeds[i] || number == whole) return i + 1;
    }
    return 0;
}

}  // namespace hostler
