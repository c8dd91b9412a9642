#include "roles/agent/kept_log.h"

namespace hostler::agent {

namespace {

constexpr std::string_view whole_mark = "\x01hostler: pieces\n", end_mark = "\x01hostler: last pieces\n",
                           lines_mark = "\x01hostler: lines with times\n";

// Of lines that have no times, too: they came before all others.
std::vector<LogPiece> pieces_of(std::string_view kept) {
    for (const auto mark : {whole_mark, end_mark})
        if (kept.starts_with(mark)) return log_pieces(kept.substr(mark.size()));
    if (kept.starts_with(lines_mark)) return log_lines(kept.substr(lines_mark.size()));
    std::vector<LogPiece> lines;
    while (!kept.empty()) {
        const auto line = kept.substr(0, kept.find('\n') + 1);
        lines.push_back({WallTime{}, line.empty() ? kept : line});
        kept.remove_prefix(lines.back().text.size());
    }
    return lines;
}

}  // namespace

std::string kept_log(const LogPart& log) {
    return std::string{log.truncated ? end_mark : whole_mark}.append(log.pieces);
}

LogPart read_kept(std::string_view kept, const LogsWanted& wanted) {
    const bool whole = !kept.starts_with(end_mark) && kept.size() < kept_log_max;
    return log_part(pieces_of(kept), whole, wanted);
}

LogPlace end_of_kept(std::string_view kept) { return log_part(pieces_of(kept), true, {.lines_max = 0}).next; }

}  // namespace hostler::agent
