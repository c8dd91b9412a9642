// The SeriesStore port in segment files: a log that is synced for many reports at once, and blocks of packed
// columns.
#pragma once

#include "adapters/series/keeper.h"
#include "core/worker.h"

namespace hostler::series {

// What is there is read at once; blocks. `writer` and `reader` outlive the store: one takes rows and writes,
// the other answers queries. Errors: conflict (another process has it open), unavailable.
Result<std::unique_ptr<SeriesStore>> open_store(Worker& writer, Worker& reader, std::string path,
                                                Limits limits = {});
// The same over any folder.
Result<std::unique_ptr<SeriesStore>> open_store(Worker& writer, Worker& reader,
                                                std::unique_ptr<Folder> folder, Limits limits = {});

}  // namespace hostler::series
