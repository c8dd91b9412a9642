#include "sql/cloud.h"

#include <fmt/format.h>

#include "core/log.h"
#include "sql/rows.h"

namespace hostler::sql {

std::unexpected<Error> store_lost(const Cloud& cloud, std::string_view store) {
    return fail(
        Code::conflict,
        fmt::format("the store {} is missing or empty, but the authority in {} has already served a store; "
                    "restore a backup into it (hostler restore FILE --to STORE), or start the master once "
                    "with --new-store to begin a new, empty cloud",
                    store, cloud.authority),
        "store_lost");
}

Result<> claim(Rows& rows, Cloud& cloud, std::string_view store) {
    const std::uint64_t present = TRY(rows.meta("cloud"));
    const bool empty = TRY(rows.meta("number")) == 0;
    const bool known = present != 0 && present == cloud.mark;
    if (known && cloud.begin)
        log_warn("the store {} is already of this cloud; start the master without --new-store", store);
    // A first start that ended before its first commit leaves an empty store that is known.
    if (!known && empty && cloud.served() && !cloud.begin) return store_lost(cloud, store);
    if (!known && !empty && present != 0 && cloud.mark != 0)
        return fail(Code::conflict,
                    fmt::format("the store {} belongs to another cloud ({:016x}) than the authority in {} "
                                "({:016x}); start the master with the store and the authority of one cloud, "
                                "or remove the file {}/cloud if these two belong together",
                                store, present, cloud.authority, cloud.mark, cloud.authority),
                    "store_of_another_cloud");
    std::uint64_t number = present;
    if (number == 0) {
        number = !empty && cloud.mark != 0 ? cloud.mark : cloud.fresh;
        TRY(rows.set_meta("cloud", number));
    }
    cloud.mark = number;
    cloud.begin = false;
    return {};
}

}  // namespace hostler::sql
