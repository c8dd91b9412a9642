#include "roles/master/container/shell_words.h"

namespace hostler::master {

Result<std::vector<std::string>> shell_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool begun = false;  // "" is a word too.
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == ' ' || c == '\t' || c == '\n') {
            if (begun) words.push_back(std::exchange(word, {}));
            begun = false;
        } else if (c == '\'') {
            begun = true;
            const auto end = line.find('\'', i + 1);
            if (end == std::string_view::npos) return fail(Code::invalid, "a ' has no end");
            word += line.substr(i + 1, end - i - 1);
            i = end;
        } else if (c == '"') {
            begun = true;
            for (++i;; ++i) {
                if (i >= line.size()) return fail(Code::invalid, "a \" has no end");
                if (line[i] == '"') break;
                if (line[i] == '\\' && i + 1 < line.size() &&
                    std::string_view{"\"\\$`"}.contains(line[i + 1]))
                    ++i;
                word += line[i];
            }
        } else if (c == '\\') {
            if (i + 1 >= line.size()) return fail(Code::invalid, "it ends in a backslash");
            begun = true;
            word += line[++i];
        } else {
            begun = true;
            word += c;
        }
    }
    if (begun) words.push_back(std::move(word));
    return words;
}

}  // namespace hostler::master
