#include <fmt/format.h>

#include "http/testing/corpus.h"

namespace hostler::http::testing {

namespace {

// On one line, as C would write them; of what is long, its beginning and its size.
std::string shown(std::string_view bytes) {
    constexpr std::size_t most = 150;
    std::string text;
    for (const char c : bytes.substr(0, bytes.size() > most ? most - 30 : most)) {
        switch (c) {
            case '\r': text += "\\r"; break;
            case '\n': text += "\\n"; break;
            case '\t': text += "\\t"; break;
            case '\0': text += "\\0"; break;
            case '|': text += "\\|"; break;
            default:
                if (c >= ' ' && c < 0x7f)
                    text += c;
                else
                    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    if (bytes.size() > most) text += fmt::format("… ({} bytes)", bytes.size());
    return text;
}

// A code span may hold backquotes when its fence is longer, and blanks at both ends are not part of it.
std::string code(std::string_view bytes) {
    const std::string_view fence = bytes.contains('`') ? "``" : "`";
    return fmt::format("{} {} {}", fence, shown(bytes), fence);
}

template <class Case>
std::string headed(const Part<Case>& part, std::string_view columns, std::string_view rule) {
    return fmt::format("\n## {}\n\n{}\n{}\n", part.title, columns, rule);
}

std::string asked(const std::vector<Part<Asked>>& parts) {
    std::string text;
    for (const auto& part : parts) {
        text += headed(part, "| case | the client's bytes | answer | see |", "|---|---|---|---|");
        for (const auto& one : part.cases)
            text += fmt::format("| {} | {} | {} | {} |\n", one.name, code(one.bytes),
                                one.at_gateway != 0 ? one.at_gateway : one.status, one.source);
    }
    return text;
}

std::string answered(const std::vector<Part<Answered>>& parts) {
    std::string text;
    for (const auto& part : parts) {
        text += headed(part, "| case | the instance's bytes | the client is answered | see |",
                       "|---|---|---|---|");
        for (const auto& one : part.cases)
            text += fmt::format("| {} | {} | {}{} | {} |\n", one.name, code(one.bytes), one.status,
                                one.cut ? ", broken off" : "", one.source);
    }
    return text;
}

template <class Case>
std::size_t count(const std::vector<Part<Case>>& parts) {
    std::size_t sum = 0;
    for (const auto& part : parts) sum += part.cases.size();
    return sum;
}

}  // namespace

std::string corpus_page() {
    return fmt::format(
        R"(# What the gateway takes for HTTP

Two programs that read one message in two ways are how requests are smuggled past the first of them. The gateway
therefore refuses all bytes that are not plainly HTTP/1.1, closes the connection of their sender, and rewrites each
request that it passes on. These {} cases are one table in the code (`src/http/testing/`); tests send each of them
through a real gateway, access point and tunnel to an origin that records what it reads. An answer of 200 means:
passed on, and read by the origin as what it was. Of what is refused the origin reads no whole request.

`./dev gen` writes this page from the table.
{}{}{}{})",
        count(heads()) + count(bodies()) + count(exchanges()) + count(answers()), asked(heads()),
        asked(bodies()), asked(exchanges()), answered(answers()));
}

}  // namespace hostler::http::testing
