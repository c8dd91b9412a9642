// Plain words: phrases that may not stand in texts for users. Comments are free of this rule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

constexpr std::string_view phrases[] = {
    "for so long", "so long as",  "anew",         "is told",    "are told",  "was told",
    "were told",   "be told",     "it tells",     "is had",     "are had",   "be had",
    "for ever",    "gives way",   "give way",     "gave way",   "so many",   "so often",
    "any more",    "at one time", "nobody",       "somebody",   "whoever",   "goes on",
    "go on",       "beside",      "is not there", "of its own", "as it was", "goes to nobody"};
// "What has no place is queued" has no subject. A question may begin like that.
constexpr std::string_view headless[] = {"What", "Who", "Whoever", "Whose", "Those who"};

struct Passage {
    std::size_t at = 0;  // In the file.
    std::string words;   // Line breaks and code are blanks.
};

bool has_words(std::string_view text) {
    constexpr std::ptrdiff_t blanks_min = 3;  // Shorter literals are names and formats.
    return std::ranges::count(text, ' ') >= blanks_min;
}

// The literals of a source; those that the compiler joins are one.
std::vector<Passage> literals_of(const File& file) {
    std::vector<Passage> found;
    const std::string& code = file.code;
    std::size_t end = 0;
    for (std::size_t open = code.find('"'); open != code.npos; open = code.find('"', end)) {
        const std::size_t close = code.find('"', open + 1);
        if (close == code.npos) break;
        const bool joined =
            !found.empty() && std::ranges::all_of(code.substr(end, open - end),
                                                  [](unsigned char c) { return std::isspace(c) != 0; });
        if (!joined) found.push_back({open, ""});
        found.back().words += file.text.substr(open + 1, close - open - 1);
        end = close + 1;
    }
    std::erase_if(found, [](const Passage& passage) { return !has_words(passage.words); });
    return found;
}

// Line breaks become blanks, code and targets of links are left out, and each paragraph, item and table cell
// is one passage.
std::vector<Passage> paragraphs_of(const File& file) {
    std::vector<Passage> found;
    bool code = false, fenced = false, fresh = true;
    std::size_t at = 0;
    for (const std::string_view line : lines_of(file.text)) {
        const std::size_t begin = line.find_first_not_of(" -*>");
        if (line.starts_with("```")) fenced = !fenced;
        const bool cut = fenced || begin == line.npos || line.starts_with("```") || line.starts_with('#');
        if (cut || begin > 0 || line.starts_with('|')) fresh = true, code = false;
        for (std::size_t i = cut ? line.size() : begin; i < line.size(); ++i) {
            if (fresh || (line[i] == '|' && !code)) found.push_back({at + i, ""});
            fresh = false;
            if (line[i] == '`') code = !code;
            if (line.substr(i).starts_with("](")) i = std::min(line.find(')', i), line.size() - 1);
            found.back().words += code || line[i] == '`' ? '`' : line[i] == '|' ? ' ' : line[i];
        }
        if (!cut && !found.empty()) found.back().words += ' ';
        if (cut || line.starts_with('|')) fresh = true;
        at += line.size() + 1;
    }
    return found;
}

// Where a sentence begins with `word`; npos: none does.
std::size_t sentence_with(std::string_view words, std::string_view word) {
    for (auto at = find_word(words, word); at != words.npos; at = find_word(words, word, at + 1)) {
        const std::string_view before = words.substr(0, at);
        const bool first = before.find_first_not_of(' ') == before.npos || before.ends_with(". ");
        const std::size_t end = words.find_first_of(".?:", at);
        if (first && words.substr(at).contains(' ') && (end == words.npos || words[end] != '?')) return at;
    }
    return words.npos;
}

std::vector<std::string> odd(const File& file) {
    std::vector<std::string> found;
    for (const Passage& passage : is_source(file) ? literals_of(file) : paragraphs_of(file)) {
        const auto complain = [&](std::size_t at, std::string_view phrase) {
            if (at == passage.words.npos) return;
            found.push_back(fmt::format("{}:{}: '{}' in '...{}...': say it in plain words", file.path,
                                        line_at(file.text, passage.at), phrase,
                                        passage.words.substr(at > 20 ? at - 20 : 0, 60)));
        };
        for (const std::string_view phrase : phrases) complain(find_word(passage.words, phrase), phrase);
        for (const std::string_view word : headless) complain(sentence_with(passage.words, word), word);
    }
    return found;
}

bool is_for_users(const File& file) {
    if (is_source(file)) return file.path.starts_with("src/") && !is_for_tests(file);
    return file.path.ends_with(".md") && !file.path.starts_with("decisions/");
}

TEST(Phrases, TextsForUsersUsePlainWords) { EXPECT_EQ(complaints(odd, is_for_users), ""); }

TEST(Phrases, PlantedPhraseIsFound) {
    const auto in_source = [](std::string_view line) {
        return odd(file_of("src/domain/x.cpp", std::string{line} + "\n")).size();
    };
    EXPECT_EQ(in_source("{.help = \"The image is had by the host.\"},"), 1U);
    EXPECT_EQ(in_source("return fail(Code::invalid, \"the command is begun \"\n    \"anew at once\");"), 1U);
    EXPECT_EQ(in_source("log_info(\"What has no place is queued\");"), 1U);
    EXPECT_EQ(in_source("log_info(\"It is queued. What has no place waits.\");"), 1U);
    EXPECT_EQ(in_source("// Nobody is told: what is had goes on.\nsay(\"the host is silent now\");"), 0U);
    EXPECT_EQ(in_source("log_info(\"a host whose GPUs are free\");"), 0U);

    const auto in_document = [](std::string text) {
        return odd(file_of("docs/x.md", std::move(text))).size();
    };
    EXPECT_EQ(in_document("It is started\nanew.\n"), 1U);
    EXPECT_EQ(in_document("- It is queued. What has\n  no place waits.\n"), 1U);
    EXPECT_EQ(in_document("| `a` | it runs beside others |\n"), 1U);
    EXPECT_EQ(in_document("## What goes on\n\nWhat is it? See `what anew tells`.\n"), 0U);
    EXPECT_EQ(in_document("[decision](room-beside-the-estate.md)\n"), 0U);
    EXPECT_EQ(in_document("```sh\nhostler go on\n```\n"), 0U);
}

}  // namespace
}  // namespace hostler::tidy
