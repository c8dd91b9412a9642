// Who is to be told what, now.
#pragma once

#include <map>

#include "domain/alert/receiver.h"
#include "domain/alert/silence.h"

namespace hostler::alert {

// One alert as it is told.
struct Line {
    std::string alert;  // Its id.
    std::string fingerprint;
    bool resolved = false;
    Labels labels;
    std::string summary;
    std::string runbook;
    double value = 0;
    std::int64_t fired_at = 0;
    std::int64_t resolved_at = 0;
};
BOOST_DESCRIBE_STRUCT(Line, (),
                      (alert, fingerprint, resolved, labels, summary, runbook, value, fired_at, resolved_at))

// One message on its way. It is written down before it is sent, and taken out once it has arrived: after a
// crash in between it is sent again under the same id.
struct Delivery {
    std::string id;        // "an-…"
    std::string receiver;  // Its id.
    std::string tenant;    // The receiver's.
    std::string group;
    std::vector<Line> lines;
    std::int64_t created_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Delivery, (), (id, receiver, tenant, group, lines, created_at))

inline constexpr std::size_t lines_max = 200;           // Of one message; what is beyond comes with the next.
inline constexpr std::size_t deliveries_max = 64;       // Of one receiver, under way. None is dropped for it:
                                                        // what they do not tell is told when there is room.
inline constexpr std::int64_t delivery_max_s = 86'400;  // So long one is tried.

// What is known, for plan() and is_settled().
struct Board {
    std::vector<const Alert*> alerts;
    std::map<std::string, const Receiver*> receivers;  // By id.
    std::vector<const Silence*> silences;
    std::vector<const Delivery*> under_way;
};

// Messages to be made now, without ids. Of a receiver's group there is at most one under way.
std::vector<Delivery> plan(const Board& board, std::int64_t now);

// That `delivery` was made: so that nobody is told the same twice.
void note(Alert& alert, const Delivery& delivery, const Line& line);

// It is over, and all who were told that it fires have been told so, or will not be.
bool is_settled(const Alert& alert, const Board& board, std::int64_t now);

bool is_silenced(const std::vector<const Silence*>& silences, const std::string& told_tenant,
                 const Labels& labels, std::int64_t now);

}  // namespace hostler::alert
