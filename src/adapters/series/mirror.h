// What a store that follows another asks, and how it is answered: records of logs as they were written, and
// devices of segments with their packed blocks.
#pragma once

#include "adapters/series/read.h"
#include "ports/series_mirror.h"

namespace hostler::series {

struct Question {
    std::string store;  // Whose place it is.
    Place place;
    bool log_anew =
        false;  // How rows differ from those before is not known (any more): the log from its start.
    // Of segments those are asked for that do not end before `since`, or begin by `until`: what it has got
    // from others since then it is not to be told again.
    Millis since = 0;
    Millis until = 0;
};

struct Answer {
    enum class Of : std::uint8_t { nothing, log, segment };
    std::string store;
    Place from, next;
    Of of = Of::nothing;
    bool all = false;  // Nothing more is there.
    std::uint64_t skipped = 0;
    Millis reached =
        std::numeric_limits<Millis>::min();  // The newest row of a segment that is told to its end.
    std::string body;  // Log records; or of each device: what it is told as, until when, its blocks.
};

std::string encode(const Question& question);
Result<Question> read_question(std::string_view bytes);  // Errors: invalid.
std::string encode(const Answer& answer);
Result<Answer> read_answer(std::string_view bytes);  // Errors: invalid.

// Errors: unavailable.
Result<Answer> answer(const Question& question, const Offer& offer, QueryReader& indexes,
                      std::size_t bytes = SeriesMirror::piece_bytes);

}  // namespace hostler::series
