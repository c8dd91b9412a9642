// Makes one document of `hostler apply` so.
#pragma once

#include <functional>

#include "cli/apply_item.h"
#include "cli/client.h"

namespace hostler::cli {

class Settle {
public:
    static constexpr std::size_t pages_max = 1000;  // Of a list that is looked through.
    // With `dry_run` nothing changes.
    Settle(const CliWorld& world, ApiClient& client, bool dry_run)
        : world_(world), client_(client), dry_run_(dry_run) {}

    // Its outcome, and what was changed; refused is left to the caller. Errors: conflict "differs" (it is
    // there, and cannot be changed), what the API says.
    Task<> run(Item& item);

private:
    Task<> create(Item& item);
    Task<> replace(Item& item, Error differs);
    Task<json::value> post(const Item& item, json::object fields);
    Task<json::value> send(ApiCall call);
    // null: it is not there.
    Task<json::value> find(const Item& item);
    Task<json::value> find_in_list(const Item& item);
    // The first that is so, through all pages.
    Task<json::value> find_in_pages(const api::Operation& list, std::function<bool(const json::value&)> so);
    Task<json::value> look(ApiCall call);
    Result<> compare(const Item& item, const json::object& fields, const api::Schema& schema,
                     const json::value& seen);

    Task<> instance(Item& item, const json::value& seen);
    Task<> cluster(Item& item, const json::value& seen);
    Task<> job(Item& item);
    Task<json::value> find_job(const Item& item);
    Task<> name_dependencies(const Item& item, json::value& seen);
    Task<> price(Item& item);
    Task<json::value> find_price(const Item& item);

    Task<> stock(Item& item);
    Task<> slots(Item& item, const json::value& stock);
    Task<> images(Item& item, const json::value& stock);
    Task<> policy(Item& item, const json::value& stock);

    const CliWorld& world_;
    ApiClient& client_;
    bool dry_run_;
};

}  // namespace hostler::cli
