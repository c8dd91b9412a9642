// The files that a batch script names for its output, on the machine of whoever runs it.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "domain/job/output_pattern.h"

namespace hostler::cli {

struct OutputWanted {
    std::string output;   // Pattern; empty: it is printed.
    std::string error;    // Pattern; empty: where the output goes.
    bool append = false;  // To a file that exists; else it is made empty.
    std::string name;     // %x
    std::string user;     // %u
    bool any() const { return !output.empty() || !error.empty(); }
};

// One file for each path, however many tasks write to it.
class OutputFiles {
public:
    explicit OutputFiles(OutputWanted wanted) : wanted_(std::move(wanted)) {}
    // Standard error does not go where standard output goes.
    bool apart() const { return !wanted_.error.empty() && wanted_.error != wanted_.output; }
    bool takes(bool error) const { return !pattern(error).empty(); }
    // Of nothing, too: then the file exists. Relative paths are in the current folder. Errors: invalid (a
    // name that a pattern makes), as of opening a file.
    Result<> write(OutputNames names, bool error, std::string_view bytes);

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const std::string& pattern(bool error) const {
        return error && !wanted_.error.empty() ? wanted_.error : wanted_.output;
    }
    OutputWanted wanted_;
    std::map<std::string, std::unique_ptr<std::FILE, Close>> files_;
};

}  // namespace hostler::cli
