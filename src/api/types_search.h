// Search: objects by id or name.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Search {
    std::string q;
    int limit = 20;
};
BOOST_DESCRIBE_STRUCT(Search, (), (q, limit))
template <>
inline constexpr auto fields<Search> = std::to_array<Field>({
    {.member = "q", .help = "Id, name, or a part of one. Letters match in either case.", .example = "notebook", .min = 1,
     .max = 128, .form = &forms::one_line},
    {.member = "limit", .help = "Maximum number of results.", .example = "20", .min = 1, .max = 50,
     .absent = Absent::fills},
});

struct SearchHit {
    std::string kind;
    std::string id;
    std::string name;
    std::string state;
    std::string tenant_id;
    std::string project;
    bool operator==(const SearchHit&) const = default;
};
BOOST_DESCRIBE_STRUCT(SearchHit, (), (kind, id, name, state, tenant_id, project))
template <>
inline constexpr auto fields<SearchHit> = std::to_array<Field>({
    {.member = "kind",
     .help = "instance, job, cluster, volume, host, gpu, project, tenant, user, group, spec, stock, template or zone.",
     .example = "instance"},
    {.member = "id", .help = "Its id, as other calls take it.", .example = "i-7k2m9x4q1z"},
    {.member = "name", .help = "Its name for people; of a GPU its model.", .example = "notebook-1"},
    {.member = "state", .help = "Its state; empty: it has none.", .example = "running"},
    {.member = "tenant_id", .help = "Owning tenant; empty: none.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant; empty: none.", .example = "lab"},
});

struct SearchResult {
    std::vector<SearchHit> items;
    bool truncated = false;
};
BOOST_DESCRIBE_STRUCT(SearchResult, (), (items, truncated))
template <>
inline constexpr auto fields<SearchResult> = std::to_array<Field>({
    {.member = "items", .help = "Best first: the same id or name, then those that begin so, then those that contain it.",
     .max = 50},
    {.member = "truncated",
     .help = "There may be more: the limit was reached, or not all objects were compared. A longer text finds them."},
});

}  // namespace hostler::api
