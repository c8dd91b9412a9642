// What receivers of alerts were told.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ports/outgoing.h"

namespace hostler::simulation {

// A server at whatever address, that takes webhooks and forgets none.
struct AlertInbox {
    struct Word {
        std::string notice;  // Its id.
        std::string fingerprint;
        std::string status;  // firing, resolved
        std::string starts_at;
        std::string host;  // Its name.
    };
    Result<HttpAnswer> take(const HttpCall& call);

    std::vector<Word> words;  // In the order in which they came; a message that comes twice is there twice.
    bool away = false;        // It answers with 503, and takes nothing.
    bool deaf = false;        // It takes what comes, and its answer is an error.
};

}  // namespace hostler::simulation
