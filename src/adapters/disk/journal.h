// The Journal port as one file that only grows, and is written anew when most of it is past.
#pragma once

#include <memory>

#include "core/worker.h"
#include "ports/journal.h"

namespace hostler::disk {

struct JournalLimits {
    std::size_t key_bytes_max = Journal::key_bytes_max;
    std::size_t value_bytes_max = Journal::value_bytes_max;
    std::size_t bytes_max = Journal::bytes_max;
    // Written anew when more than this, and half of the file, is past.
    std::size_t waste_bytes_max = 1 << 20;
    // Of the disk, kept for what is to be appended next: that a host whose disk is full can still be told to
    // end things, which makes room.
    std::size_t reserve_bytes = 1 << 20;
};

// Reads what is there. A record that was half written when the power went is cut off; one that the disk has
// changed since costs itself, is told by damage(), and the file as it was stays beside it as `path`.damaged.
// The worker outlives the journal. Blocks. Errors: conflict (another process has it open), unavailable,
// invalid (not a journal).
Result<std::unique_ptr<Journal>> open_journal(Worker& worker, std::string path, JournalLimits limits = {});

}  // namespace hostler::disk
