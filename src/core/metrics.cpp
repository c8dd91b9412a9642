#include "core/metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hostler {

namespace {

// Of a label's value; help has no quotes to escape.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

}  // namespace

void MetricsPage::begin(std::string_view name, std::string_view help, Type type) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type == Type::gauge ? "gauge" : "counter");
}

std::string MetricsPage::labels(Labels labels) {
    std::string text;
    char before = '{';
    for (const auto& [name, value] : labels) {
        fmt::format_to(std::back_inserter(text), "{}{}=\"{}\"", before, name, escaped(value));
        before = ',';
    }
    if (labels.size() > 0) text += '}';
    return text;
}

void MetricsPage::put_row(std::string_view labels, std::string_view of) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name_, labels, of);
}

std::string MetricsPage::number(double of) { return fmt::format("{}", of); }

void write_process_metrics(MetricsPage& page) {
    using enum MetricsPage::Type;
    std::uint64_t pages = 0, resident = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> resident;
    page.add("process_resident_memory_bytes", "Memory that this process has.", gauge,
             resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    std::error_code error;
    std::size_t files = 0;
    for (auto file = std::filesystem::directory_iterator{"/proc/self/fd", error};
         !error && file != std::filesystem::directory_iterator{}; file.increment(error))
        ++files;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    page.add("process_open_fds", "Files and sockets that are open.", gauge, files);
    page.add("process_max_fds", "How many may be open.", gauge, limit.rlim_cur);
}

}  // namespace hostler
