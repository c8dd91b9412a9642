#include "domain/order/queue.h"

#include <cmath>

namespace hostler {

namespace {

constexpr double weight_min = 1e-6, weight_max = 1e6;

template <class Test>
bool all_resources(const Test& test) {
    return test(&Amount::gpu_milli) && test(&Amount::cpu_milli) && test(&Amount::memory_bytes);
}

}  // namespace

Result<> check(const Queue& queue) {
    Error error{Code::invalid, "the queue has wrong settings"};
    if (!std::isfinite(queue.weight) || queue.weight < weight_min || queue.weight > weight_max)
        error.fields.push_back({"weight", "from 0.000001 to 1000000"});
    if (!queue.guaranteed.valid()) error.fields.push_back({"guaranteed", "each resource from 0 to 2^50"});
    if (queue.most && !queue.most->valid()) error.fields.push_back({"most", "each resource from 0 to 2^50"});
    if (!error.fields.empty()) return std::unexpected(std::move(error));
    return {};
}

bool below_guarantee(const Amount& allocated, const Amount& guaranteed) {
    return guaranteed != Amount{} && all_resources([&](std::int64_t Amount::* resource) {
               return guaranteed.*resource == 0 || allocated.*resource < guaranteed.*resource;
           });
}

bool covers(const Amount& guaranteed, const Amount& allocated, const Amount& more) {
    bool any = false;
    return all_resources([&](std::int64_t Amount::* resource) {
               if (guaranteed.*resource == 0 || more.*resource == 0) return true;
               any = true;
               return allocated.*resource + more.*resource <= guaranteed.*resource;
           }) &&
           any;
}

}  // namespace hostler
