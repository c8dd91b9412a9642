#include "domain/job/batch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/utf8.h"
#include "domain/job/batch_options.h"

namespace hostler {

namespace {

using batch::Draft;
using batch::Option;
using batch::Takes;
using batch::Use;

constexpr std::string_view directive = "#SBATCH";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// The words of a line as sbatch divides it: quotes keep blanks together, a backslash takes the next character
// as it is, '#' outside of quotes begins a comment. Errors: a quote without its end.
Result<std::vector<std::string>> words_of(std::string_view line) {
    std::vector<std::string> words;
    char quote = 0;
    bool inside = false;  // Of a word.
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == 0 && c == '#') break;
        if (quote == 0 && is_blank(c)) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        if (c == '\\') {
            if (++i < line.size()) words.back() += line[i];
        } else if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            words.back() += c;
        }
    }
    if (quote != 0) return fail(Code::invalid, fmt::format("a {} has no end; close the quote", quote));
    return words;
}

// Those that look alike, for "did you mean": one begins with the other.
std::string hint_for(std::string_view name) {
    for (const Option& option : batch::options())
        if (!name.empty() && option.use != Use::refused &&
            (option.name.starts_with(name) || name.starts_with(option.name)))
            return fmt::format("did you mean --{}?", option.name);
    return "leave it out, or see the options that are read in the documentation of hostler run";
}

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Result<BatchScript> read() {
        Draft& draft = draft_;
        draft.script.text = text_;
        read_lines();
        batch::join(draft);
        if (!draft.wrong.empty()) return refusal();
        std::ranges::sort(draft.script.notes, {},
                          [](const BatchNote& note) { return std::tie(note.line, note.option, note.value); });
        return std::move(draft.script);
    }

private:
    void read_lines() {
        std::string_view rest = text_;
        bool commands = false;
        for (line_ = 1; !rest.empty(); ++line_) {
            const auto end = std::min(rest.find('\n'), rest.size());
            const std::string_view line = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (line_ == 1) {
                draft_.script.interpreter = trimmed(line.substr(2));
            } else if (commands) {
                if (!line.starts_with(directive)) continue;
                note("", "", "it is not read, nor are those after it: it follows the first command");
                return;
            } else if (line.starts_with(directive)) {
                read_line(line.substr(directive.size()));
            } else {
                const std::string_view content = trimmed(line);
                commands = !content.empty() && content.front() != '#';
                if (content.starts_with(directive))
                    note("", "", "it is a comment, as for sbatch: blanks stand before #SBATCH");
                if (line.starts_with("#PBS") || line.starts_with("#BSUB") || line.starts_with("#SLURM"))
                    note("", "", "it has no effect: only #SBATCH lines are read");
            }
        }
    }

    void read_line(std::string_view line) {
        const auto words = words_of(line);
        if (!words) return draft_.refuse(line_, words.error().message);
        for (std::size_t i = 0; i < words->size(); ++i) {
            if (draft_.wrong.size() >= batch_options_max) return;
            if (++options_ > batch_options_max) {
                if (options_ == batch_options_max + 1)
                    draft_.refuse(line_, fmt::format("it has option {}; a script has at most {}", options_,
                                                     batch_options_max));
                return;
            }
            const std::string& word = (*words)[i];
            const std::string* next = i + 1 < words->size() ? &(*words)[i + 1] : nullptr;
            bool took_next = false;
            if (word == "--" && next == nullptr) continue;
            if (word.starts_with("--") && word.size() > 2)
                took_next = read_long(std::string_view(word).substr(2), next);
            else if (word.starts_with('-') && word.size() > 1 && word != "--")
                took_next = read_short(std::string_view(word).substr(1), next);
            else if (word == ":" || word == "hetjob" || word == "packjob")
                draft_.refuse(line_, "heterogeneous jobs are not read; submit one script for each part");
            else
                draft_.refuse(line_, fmt::format("'{}' is no option; write --name=value", word));
            if (took_next) ++i;
        }
    }

    // Whether it took the next word as its value.
    bool read_long(std::string_view word, const std::string* next) {
        const auto equal = word.find('=');
        const std::string_view name = word.substr(0, equal);
        const auto option = std::ranges::find(batch::options(), name, &Option::name);
        if (option == batch::options().end()) {
            draft_.refuse(line_, fmt::format("--{} is unknown; {}", name, hint_for(name)));
            // Its value is no further mistake.
            return equal == word.npos && next != nullptr && !next->starts_with('-');
        }
        if (equal != word.npos) {
            if (option->takes == Takes::nothing)
                draft_.refuse(line_,
                              fmt::format("--{} takes no value; leave out '{}'", name, word.substr(equal)));
            else
                apply(*option, word.substr(equal + 1));
            return false;
        }
        return take(*option, next);
    }

    bool read_short(std::string_view letters, const std::string* next) {
        for (; !letters.empty(); letters.remove_prefix(1)) {
            const auto option = std::ranges::find(batch::options(), letters.front(), &Option::letter);
            if (option == batch::options().end()) {
                draft_.refuse(line_, fmt::format("-{} is unknown; leave it out, or see the options that are "
                                                 "read in the documentation of hostler run",
                                                 letters.front()));
                return letters.size() == 1 && next != nullptr && !next->starts_with('-');
            }
            if (option->takes == Takes::nothing || (option->takes == Takes::perhaps && letters.size() == 1)) {
                apply(*option, "");
                continue;
            }
            if (letters.size() == 1) return take(*option, next);
            // "-J=x" names the job "=x" in sbatch; it was hardly meant.
            if (letters[1] == '=')
                draft_.refuse(
                    line_, fmt::format("-{} has no '=' before its value; write -{} {} or --{}{}", letters[0],
                                       letters[0], letters.substr(2), option->name, letters.substr(1)));
            else
                apply(*option, letters.substr(1));
            return false;
        }
        return false;
    }

    bool take(const Option& option, const std::string* next) {
        if (option.takes != Takes::value) {
            apply(option, "");
            return false;
        }
        if (next == nullptr) {
            draft_.refuse(line_, fmt::format("--{} needs a value on its line; write --{}=VALUE", option.name,
                                             option.name));
            return false;
        }
        apply(option, *next);
        return true;
    }

    void apply(const Option& option, std::string_view value) {
        const std::string name = fmt::format("--{}", option.name);
        const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
        if (std::ranges::any_of(value, is_control))
            return draft_.refuse(line_,
                                 fmt::format("{}: its value has a control character; leave it out", name));
        switch (option.use) {
            case Use::noted: return note(name, value, option.words);
            case Use::refused:
                return draft_.refuse(line_, fmt::format("{} is not possible here: {}", name, option.words));
            case Use::read: break;
        }
        if (const auto read = option.read(draft_, value, line_); !read)
            draft_.refuse(line_, fmt::format("{}: {}", name, read.error().message));
    }

    void note(std::string_view option, std::string_view value, std::string_view message) {
        if (draft_.script.notes.size() < batch_options_max)
            draft_.script.notes.push_back(
                {line_, std::string(option), std::string(value), std::string(message)});
    }

    Result<BatchScript> refusal() {
        std::vector<FieldError>& wrong = draft_.wrong;
        const std::string first = fmt::format("{} of the batch script: {}", wrong[0].path, wrong[0].message);
        std::string message =
            wrong.size() == 1 ? first : fmt::format("{} (and {} more mistakes)", first, wrong.size() - 1);
        return std::unexpected(Error{.code = Code::invalid,
                                     .message = std::move(message),
                                     .reason = "script_wrong",
                                     .fields = std::move(wrong)});
    }

    std::string_view text_;
    Draft draft_;
    int line_ = 1;
    std::size_t options_ = 0;
};

// What is wrong with all of it, and where.
std::optional<std::pair<std::size_t, std::string_view>> unusable(std::string_view text) {
    if (std::ranges::all_of(text, [](char c) { return is_blank(c) || c == '\n'; }))
        return std::pair{0, "the script is empty; it begins with #! and an interpreter, as #!/bin/sh"};
    if (!text.starts_with("#!"))
        return std::pair{0, "the first line must begin with #! and an interpreter, as #!/bin/sh"};
    if (const auto at = text.find("\r\n"); at != text.npos)
        return std::pair{at, "it ends with a DOS line break (\\r\\n); convert the file, as with dos2unix"};
    if (const auto at = text.find('\0'); at != text.npos)
        return std::pair{at, "it has a NUL character; a batch script is text"};
    std::size_t at = 0;
    while (const std::size_t length = utf8_length(text.substr(at))) at += length;
    if (at < text.size()) return std::pair{at, "it is not UTF-8; convert the file, as with iconv"};
    return std::nullopt;
}

}  // namespace

Result<BatchScript> read_batch_script(std::string_view text) {
    if (text.size() > batch_script_bytes_max)
        return fail(
            Code::invalid,
            fmt::format("the batch script has {} bytes and may have {}; put data into files or a volume",
                        text.size(), batch_script_bytes_max),
            "script_too_large");
    if (const auto why = unusable(text)) {
        const auto line = 1 + std::ranges::count(text.substr(0, why->first), '\n');
        return std::unexpected(Error{
            .code = Code::invalid,
            .message = fmt::format("line {} of the batch script: {}", line, why->second),
            .reason = "script_wrong",
            .fields = {{fmt::format("line {}", line), std::string(why->second)}},
        });
    }
    return Reader(text).read();
}

}  // namespace hostler
