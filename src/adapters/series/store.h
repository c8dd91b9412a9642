// The SeriesStore port in segment files: a log that is synced for many reports at once, and blocks of packed
// columns.
#pragma once

#include "adapters/series/keeper.h"
#include "core/worker.h"
#include "ports/series_mirror.h"

namespace hostler::series {

// Other stores follow it, and it follows others.
class FollowedStore : public SeriesStore, public SeriesMirror {};

// What is there is read at once; blocks. `writer` and `reader` outlive the store: one takes rows and writes,
// the other answers queries. A folder that has none gets `identity`, by which
// followers know it: another one for each. Errors: conflict (another process has it open), unavailable.
Result<std::unique_ptr<FollowedStore>> open_store(Worker& writer, Worker& reader, std::string path,
                                                  Limits limits = {}, std::string identity = "series");
// The same over any folder.
Result<std::unique_ptr<FollowedStore>> open_store(Worker& writer, Worker& reader,
                                                  std::unique_ptr<Folder> folder, Limits limits = {},
                                                  std::string identity = "series");

}  // namespace hostler::series
