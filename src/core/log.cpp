#include "core/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace hostler {

namespace {

std::atomic<void (*)(Level, std::string_view)> sink{nullptr};

spdlog::logger& logger() {
    static const auto log = [] {
        auto made = std::make_shared<spdlog::logger>("hostler",
                                                     std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%-5l%$ %n  %v");
        return made;
    }();
    return *log;
}

spdlog::level::level_enum level_of(Level level) {
    switch (level) {
        case Level::debug: return spdlog::level::debug;
        case Level::info: return spdlog::level::info;
        case Level::warn: return spdlog::level::warn;
        case Level::error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

}  // namespace

void log(Level level, std::string_view line) {
    if (const auto to = sink.load()) return to(level, line);
    logger().log(level_of(level), line);
}

void set_log_level(Level level) { logger().set_level(level_of(level)); }

void set_log_name(std::string name) {
    logger().set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%-5l%$ " + name + "  %v");
}

void set_log_sink(void (*to)(Level, std::string_view)) { sink = to; }

}  // namespace hostler
