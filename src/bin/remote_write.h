// Remote-write of a master, as its options say.
#pragma once

#include <memory>

#include "bin/process.h"
#include "core/metrics.h"
#include "ports/outgoing.h"
#include "ports/series.h"

namespace CLI {
class App;
}

namespace hostler::bin {

struct RemoteWriteOptions {
    std::string url;  // Empty: nothing is sent.
    std::vector<std::string> headers;
    std::string token_file;
    std::string authority_file;
    double backlog_gib = 4;

    void add_to(CLI::App& app);
};

class RemoteWrite {
public:
    // Reads what is to be sent still, in a folder of `data`; blocks. `process`, `outgoing` and `store`
    // outlive it. Errors: invalid (a header, a file), unavailable.
    static Result<std::unique_ptr<RemoteWrite>> open(Process& process, Outgoing& outgoing,
                                                     const std::filesystem::path& data,
                                                     const RemoteWriteOptions& options, SeriesStore& store);
    virtual ~RemoteWrite() = default;
    virtual SeriesStore& store() = 0;  // To be used in place of the one it was given.
    virtual void start(TaskGroup& group) = 0;
    virtual void write_metrics(MetricsPage& page) const = 0;
};

}  // namespace hostler::bin
