// A thread on which transfers run, many at once.
#pragma once

#include <functional>
#include <memory>

#include "adapters/curl/transfer.h"

namespace hostler::curl {

class Runner {
public:
    using Id = std::uint64_t;
    using Done = std::function<void(Id, Result<HttpAnswer>)>;  // Called on the thread.

    Runner(std::string name, Done done);
    ~Runner();  // Breaks off what runs; `done` is not called for it.
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    void start(Id id, std::unique_ptr<Transfer> transfer);
    void stop(Id id);  // What has ended already is left alone.

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hostler::curl
