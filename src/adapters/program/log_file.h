// What a program writes, in two files of bounded size: the older one is replaced when the newer one is full.
#pragma once

#include <string>
#include <string_view>

#include "core/log_lines.h"

namespace hostler::program {

class LogWriter {
public:
    // Begins where an earlier writer of the folder ended.
    LogWriter(std::string folder, std::int64_t bytes_max);
    ~LogWriter();
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;

    // Blocks, shortly. What the disk does not take is lost, so that the program runs on.
    void write(std::string_view bytes, WallTime now);

private:
    void rotate();
    void open();

    std::string folder_;
    std::int64_t bytes_max_, size_ = 0;
    int file_ = -1;
    WallTime last_{};
    std::string encoded_;
};

// Blocks, shortly. Errors: not_found, unavailable.
Result<LogPart> read_log(const std::string& folder, const LogsWanted& wanted);

}  // namespace hostler::program
