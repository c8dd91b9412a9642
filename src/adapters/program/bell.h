// How the agent hears at once that a program has ended: a named pipe in the folder of all programs.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <string>

#include "core/task.h"

namespace hostler::program {

class Bell {
public:
    Bell(Loop& loop, std::string state_folder);

    // Until it is rung, however often. Makes the pipe if there is none. Errors: cancelled, unavailable.
    Task<> rung();

private:
    Result<> open();

    const std::string path_;
    asio::posix::basic_stream_descriptor<Loop::executor_type> pipe_;
};

// Tells the agent, if one listens.
void ring(const std::string& state_folder);

}  // namespace hostler::program
