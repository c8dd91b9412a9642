#include "roles/agent/kept_log.h"

#include <algorithm>

#include "core/log_lines.h"

namespace hostler::agent {

std::string kept_log(std::string_view timed) { return std::string{kept_log_mark}.append(timed); }

LogText read_kept(std::string kept, bool timed, std::size_t bytes_max) {
    LogText log{.text = std::move(kept), .timed = false};
    if (log.text.starts_with(kept_log_mark)) {
        log.text.erase(0, kept_log_mark.size());
        log.timed = timed;
        if (!timed) log.text = without_times(log.text);
    }
    log.text.erase(0, log.text.size() - std::min(log.text.size(), bytes_max));
    return log;
}

}  // namespace hostler::agent
