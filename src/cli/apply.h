// `hostler apply -f FILE`: makes what files say and is not there yet.
#pragma once

#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

// Each document names its kind, one of the nouns, and the fields of the operation that creates it. What is
// there already is compared: the same is unchanged, another is a conflict. Of stock, `number` is how many
// slots there shall be: missing ones are added, idle ones beyond it taken away. With `dry_run` nothing
// changes. A field that cannot be right stops everything before anything is done; otherwise each document is
// tried, in order. Errors: that of the first document that was refused, once the others have had their turn.
Task<> apply(CliWorld& world, ApiClient& client, std::vector<std::string> files, Style style, bool dry_run);

}  // namespace hostler::cli
