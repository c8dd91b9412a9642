// One line per thing worth telling: level, what happened, then key=value.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace hostler {

enum class Level { debug, info, warn, error };

void log(Level level, std::string_view line);
void set_log_level(Level level);
void set_log_name(std::string name);                       // The role, at the head of each line.
void set_log_sink(void (*sink)(Level, std::string_view));  // nullptr: standard error.

template <class... Args>
void log_debug(fmt::format_string<Args...> f, Args&&... args) {
    log(Level::debug, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> f, Args&&... args) {
    log(Level::info, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> f, Args&&... args) {
    log(Level::warn, fmt::format(f, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> f, Args&&... args) {
    log(Level::error, fmt::format(f, std::forward<Args>(args)...));
}

}  // namespace hostler
