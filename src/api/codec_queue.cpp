#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_queue.h"

HOSTLER_JSON(hostler::api::QueueAmount)
HOSTLER_JSON(hostler::api::Queue)
HOSTLER_JSON(hostler::api::SetQueue)
HOSTLER_JSON(hostler::api::ListQueues)
HOSTLER_JSON(hostler::api::DeleteQueue)
HOSTLER_JSON(hostler::api::List<hostler::api::Queue>)

namespace hostler::api {

void Rules<SetQueue>::check(const SetQueue& request, Wrong& wrong) {
    if (request.user && !request.project) wrong.push_back({"project", "is required with user"});
}

ApiArea queue_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &set_queue,
        &list_queues,
        &delete_queue,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"queue", "Parts of the cloud that the jobs of tenants, projects and users get."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
