// Series of one store that another one follows, piece by piece.
#pragma once

#include <cstdint>
#include <string>

#include "core/task.h"

namespace hostler {

struct Mirrored {
    std::uint64_t rows = 0;              // Taken.
    std::uint64_t segments_skipped = 0;  // Of the other: down-sampled before they were asked for.
    bool all = false;                    // Nothing more was there when the answer was made.
};

// A store that asks, one that answers, and the first takes the answer. What they say is the adapter's own
// form, of which whoever carries it knows nothing. A store asks one other at a time. What it takes may come
// twice; it is found once, as after append().
class SeriesMirror {
public:
    virtual ~SeriesMirror() = default;
    // What this store wants next of the one of `master`; at most `question_bytes_max`. Errors: exhausted,
    // unavailable.
    virtual Task<std::string> ask(std::string master) = 0;
    // What became durable here after what `question` says, in that order, as much as fits. Errors: invalid
    // (no question), unavailable.
    virtual Task<std::string> answer(std::string question) = 0;
    // Rows, the labels of their devices and how far it is are durable when it returns. Errors: invalid (no
    // answer, a damaged one, or not to what was asked last), exhausted, unavailable. After an error ask
    // again.
    virtual Task<Mirrored> take(std::string master, std::string answer) = 0;

    static constexpr std::size_t question_bytes_max = 1024;
    static constexpr std::size_t piece_bytes = 1 << 20;  // An answer ends after so many,
    static constexpr std::size_t answer_bytes_max =
        64 << 20;  // and is never larger: rows of one round stay together.
};

}  // namespace hostler
