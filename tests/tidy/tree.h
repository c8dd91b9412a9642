// The files of this repository as text, and what the rules of the house have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::tidy {

struct File {
    std::string path;  // From the root: "src/core/id.h".
    std::string text;
    std::string code;  // Of a source, as code_of() makes it.
};
File file_of(std::string path, std::string text);

// What is written by hand: sources, scripts, documents. Read once.
const std::vector<File>& tree();
// Errors end the test: the file has to be there.
std::string read(const std::string& path);
bool exists(const std::string& path);

// A rule says what is wrong in one file, a sentence each; the sentence begins with path and line.
using Rule = std::function<std::vector<std::string>(const File&)>;
// All complaints of `rule` about those files that `applies` picks, as one text; empty when there are none.
std::string complaints(const Rule& rule, const std::function<bool(const File&)>& applies);

// The text with comments and the contents of literals blanked, line breaks kept: what the compiler sees.
std::string code_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);
std::size_t line_at(std::string_view text, std::size_t offset);  // From 1.
// `word` at `from` or later, not as part of a longer name; npos: not there.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);

bool names_source(std::string_view path);
inline bool is_source(const File& file) { return names_source(file.path); }  // C++ or C.
bool is_header(const File& file);
bool is_for_tests(const File& file);  // Unit tests, fuzzers, what stands in testing/, and all below tests/.

}  // namespace hostler::tidy
