// What a term knows of alerts beside what is stored: label sets on their way to fire, messages being sent.
#pragma once

#include <map>
#include <string>

#include "core/timers.h"
#include "domain/alert/evaluate.h"
#include "domain/alert/plan.h"

namespace hostler::master {

struct AlertBook {
    struct Look {
        std::uint64_t generation = 0;  // Of the rule; 0: one that every cloud has.
        alert::RuleState state;
        std::int64_t at = 0;  // The last one that had an answer.
        std::string error;    // Why there was none; empty: there was.
    };
    struct Try {
        bool under_way = false;
        int failed = 0;  // In a row.
        Instant next{};
    };
    struct Contact {
        std::uint64_t delivered = 0;
        std::uint64_t failed = 0;
        std::int64_t delivered_at = 0;
        std::string error;  // Of the last try; empty: it succeeded.
    };

    std::map<std::string, Look> looks;        // By rule.
    std::map<std::string, Try> tries;         // By delivery.
    std::map<std::string, Contact> contacts;  // By receiver.
    bool series_failed = false;               // At the last look.
    std::uint64_t left_out = 0;               // Label sets that fire and have no alert, at the last look.
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;
    std::uint64_t given_up = 0;
};

}  // namespace hostler::master
