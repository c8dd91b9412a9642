#include "tests/tidy/tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hostler::tidy {

namespace fs = std::filesystem;

namespace {

const fs::path root{PROJECT_SOURCE_DIR};

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_text(const fs::path& path) {
    static constexpr std::string_view kinds[] = {".h",     ".cpp", ".c",    ".md",  ".cmake", ".txt",
                                                 ".proto", ".sql", ".json", ".svg", ""};
    return std::ranges::find(kinds, path.extension().string()) != std::end(kinds) &&
           path.filename() != "openapi.json";
}

}  // namespace

std::string read(const std::string& path) {
    std::ifstream file{root / path, std::ios::binary};
    EXPECT_TRUE(file.good()) << path << " is missing";
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

bool exists(const std::string& path) { return fs::exists(root / path); }

File file_of(std::string path, std::string text) {
    std::string code = names_source(path) ? code_of(text) : std::string{};
    return {std::move(path), std::move(text), std::move(code)};
}

const std::vector<File>& tree() {
    static const std::vector<File> all = [] {
        std::vector<File> files;
        const auto add = [&](const fs::path& path) {
            const std::string name = fs::relative(path, root).string();
            if (is_text(path)) files.push_back(file_of(name, read(name)));
        };
        // Build and data folders of any name may lie beside these.
        for (const char* top : {"src", "tests", "cmake", "docs", "decisions", "proto", "schema", ".ci"})
            for (const auto& entry : fs::recursive_directory_iterator{root / top})
                if (entry.is_regular_file()) add(entry.path());
        for (const char* top : {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
                                "dev", "CMakeLists.txt", "CMakePresets.json"})
            add(root / top);
        std::ranges::sort(files, {}, &File::path);
        return files;
    }();
    return all;
}

std::string complaints(const Rule& rule, const std::function<bool(const File&)>& applies) {
    std::string all;
    for (const File& file : tree())
        if (applies(file))
            for (const std::string& one : rule(file)) all += one + "\n";
    return all;
}

std::string code_of(std::string_view text) {
    std::string code{text};
    const auto blank = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, code.size()); ++i)
            if (code[i] != '\n') code[i] = ' ';
    };
    for (std::size_t i = text.find_first_of("/\"'R"); i < text.size();
         i = text.find_first_of("/\"'R", i + 1)) {
        if (text.substr(i).starts_with("//")) {
            const std::size_t end = std::min(text.find('\n', i), text.size());
            blank(i, end);
            i = end;
        } else if (text.substr(i).starts_with("/*")) {
            const std::size_t end = std::min(text.find("*/", i), text.size());
            blank(i, end + 2);
            i = end + 1;
        } else if (text.substr(i).starts_with("R\"")) {
            const std::string close = ")" + std::string{text.substr(i + 2, text.find('(', i) - i - 2)} + "\"";
            const std::size_t end = std::min(text.find(close, i), text.size());
            blank(i + 2, end);
            i = end + close.size() - 1;
        } else if (text[i] == '"' ||
                   (text[i] == '\'' && (i == 0 || !in_name(text[i - 1])))) {  // 10'000 is no literal.
            std::size_t end = i + 1;
            while (end < text.size() && text[end] != text[i] && text[end] != '\n')
                end += text[end] == '\\' ? 2 : 1;
            blank(i + 1, end);
            i = end;
        }
    }
    return code;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
    return static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n')) + 1;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
    for (std::size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !in_name(word.front()) || !in_name(text[at - 1]);
        const bool ends = end >= text.size() || !in_name(word.back()) || !in_name(text[end]);
        if (begins && ends) return at;
    }
    return text.npos;
}

bool names_source(std::string_view path) {
    return path.ends_with(".h") || path.ends_with(".cpp") || path.ends_with(".c");
}
bool is_header(const File& file) { return file.path.ends_with(".h"); }
bool is_for_tests(const File& file) {
    return file.path.starts_with("tests/") || file.path.contains("/testing/") ||
           file.path.ends_with("_test.cpp") || file.path.ends_with("_test.h") ||
           file.path.ends_with("_fuzz.cpp");
}

}  // namespace hostler::tidy
