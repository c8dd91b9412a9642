#include "domain/written.h"

#include <fmt/format.h>

namespace hostler {

Result<std::string> with_parts(std::string_view document, std::string_view kind, const WritePart& part) {
    const std::string before = fmt::format("<!-- {}: ", kind), after = fmt::format("<!-- /{} -->", kind);
    constexpr std::string_view close = " -->\n";
    std::string made;
    while (true) {
        const auto begin = document.find(before);
        if (begin == document.npos) return made.append(document);
        const auto named = document.find(close, begin), end = document.find(after, begin);
        if (named == document.npos || end == document.npos || named > end)
            return fail(Code::invalid,
                        fmt::format("'{}' is not closed by '{}'",
                                    document.substr(begin, document.find('\n', begin) - begin), after));
        const auto name = document.substr(begin + before.size(), named - begin - before.size());
        made.append(document.substr(0, named + close.size())).append("\n");
        made.append(TRY(part(name))).append("\n");
        made.append(after);
        document.remove_prefix(end + after.size());
    }
}

}  // namespace hostler
