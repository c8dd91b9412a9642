#include "roles/master/job/settings.h"

#include <fmt/format.h>

#include <cmath>

#include "api/types_queue.h"
#include "core/quantity.h"
#include "domain/quota/resource.h"
#include "roles/master/role/subjects.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

constexpr std::int64_t milli = 1000;

// `absent`: of a resource that is not named.
Amount amount_of(const api::QueueAmount& from, std::int64_t absent, const std::string& path,
                 std::vector<FieldError>& wrong) {
    Amount amount{absent, absent, absent};
    const auto read = [&](std::string_view resource, const std::optional<std::string>& text,
                          std::int64_t& to) {
        if (!text) return;
        auto parsed = parse_amount(resource, *text);
        if (parsed && *parsed > Amount::most) parsed = fail(Code::invalid, "is too large", "invalid");
        if (parsed)
            to = *parsed;
        else
            wrong.push_back({fmt::format("{}.{}", path, resource), parsed.error().message});
    };
    if (from.gpus) amount.gpu_milli = *from.gpus * milli;
    read("cpu", from.cpu, amount.cpu_milli);
    read("memory", from.memory, amount.memory_bytes);
    return amount;
}

api::QueueAmount shown(const Amount& amount, std::int64_t absent) {
    api::QueueAmount shown;
    if (amount.gpu_milli != absent) shown.gpus = amount.gpu_milli / milli;
    if (amount.cpu_milli != absent) shown.cpu = amount_text("cpu", amount.cpu_milli);
    if (amount.memory_bytes != absent) shown.memory = amount_text("memory", amount.memory_bytes);
    return shown;
}

std::string summary_of(const Desk& desk, const Standing& standing) {
    const Amount& all = job_queues(desk).order().capacity();
    std::string text =
        fmt::format("{} of {} GPUs", standing.allocated.gpu_milli / milli, all.gpu_milli / milli);
    if (standing.queue.guaranteed.gpu_milli > 0)
        text += fmt::format(", {} guaranteed", standing.queue.guaranteed.gpu_milli / milli);
    if (standing.waiting > 0) text += fmt::format("; {} wait", standing.waiting);
    return text;
}

bool borrows(const Standing& standing) {
    const Amount &guaranteed = standing.queue.guaranteed, &allocated = standing.allocated;
    return guaranteed != Amount{} && allocated != Amount{} && !covers(guaranteed, {}, allocated);
}

Result<> check_version(const QueueSettings* row, std::optional<std::int64_t> if_version) {
    const std::int64_t version = row ? static_cast<std::int64_t>(row->meta.generation) : 0;
    if (!if_version || *if_version == version) return {};
    return refuse(fmt::format("the queue has version {}, not {}", version, *if_version), "version_differs",
                  "Read the queue again.");
}

}  // namespace

std::int64_t in_milli(double part) { return std::llround(part * milli); }

Result<> set_queue(Desk& desk, const QueuePath& path, const api::SetQueue& request) {
    const std::string id = QueueSettings::id_of(path);
    const QueueSettings* row = desk.estate.queues.find(id);
    TRY(check_version(row, request.if_version));
    std::vector<FieldError> wrong;
    QueueSettings wanted{.id = id,
                         .tenant = path.tenant,
                         .project = path.project,
                         .user = path.user,
                         .weight = request.weight,
                         .created_at = desk.estate.micros()};
    if (request.guaranteed) wanted.guaranteed = amount_of(*request.guaranteed, 0, "guaranteed", wrong);
    if (request.most) wanted.most = amount_of(*request.most, Amount::most, "most", wrong);
    if (wanted.most && !wanted.guaranteed.fits(*wanted.most))
        wrong.push_back({"guaranteed", "is more than most"});
    TRY(all_right(std::move(wrong)));
    if (row) {
        QueueSettings& now = desk.estate.queues.edit(id);
        wanted.created_at = now.created_at;
        wanted.meta = now.meta;
        ++wanted.meta.generation;
        now = std::move(wanted);
    } else {
        desk.estate.queues.add(std::move(wanted));
    }
    desk.estate.event("queue", id, path.tenant, "set", fmt::format("The queue {} was set.", id));
    return {};
}

Result<> delete_queue(Desk& desk, const QueuePath& path, std::optional<std::int64_t> if_version) {
    const std::string id = QueueSettings::id_of(path);
    const QueueSettings* row = desk.estate.queues.find(id);
    if (!row) return fail(Code::not_found, fmt::format("queue {} has no settings", id), "queue_not_found");
    TRY(check_version(row, if_version));
    desk.estate.event("queue", id, path.tenant, "deleted",
                      fmt::format("The settings of queue {} were deleted.", id));
    desk.estate.queues.erase(id);
    return {};
}

api::Queue view(const Desk& desk, const Standing& standing) {
    const QueueSettings* row = desk.estate.queues.find(QueueSettings::id_of(standing.path));
    const Amount& capacity = job_queues(desk).order().capacity();
    api::Queue queue{.tenant_id = standing.path.tenant,
                     .project = standing.path.project,
                     .user = standing.path.user,
                     .name = name_of_subject(desk, standing.path.user),
                     .weight = row ? row->weight : 1,
                     .running = shown(standing.allocated, -1),
                     .running_elements = standing.running,
                     .waiting_elements = standing.waiting,
                     .share_milli = in_milli(standing.share),
                     .entitled_milli = in_milli(standing.entitled),
                     .guaranteed_milli = in_milli(standing.queue.guaranteed.dominant(capacity)),
                     .used_milli = in_milli(standing.used),
                     .rank_milli = in_milli(standing.rank),
                     .below_guarantee = standing.guaranteed,
                     .borrows = borrows(standing),
                     .summary = summary_of(desk, standing),
                     .version = row ? static_cast<std::int64_t>(row->meta.generation) : 0};
    if (row && row->guaranteed != Amount{}) queue.guaranteed = shown(row->guaranteed, 0);
    if (row && row->most) queue.most = shown(*row->most, Amount::most);
    if (standing.oldest > 0) queue.waits_since = wall(standing.oldest);
    return queue;
}

api::Queue view_queue(const Desk& desk, const QueuePath& path) {
    const auto standing = job_queues(desk).order().standing(path, desk.estate.micros());
    return view(desk, standing.value_or(Standing{.path = path}));
}

void store_use(Desk& desk, std::size_t most) {
    for (const Settled& settled : job_queues(desk).order().settled(desk.estate.micros())) {
        if (most == 0) return;
        const Amount used{std::llround(settled.used.gpu_milli), std::llround(settled.used.cpu_milli),
                          std::llround(settled.used.memory_bytes)};
        const std::string id = QueueSettings::id_of(settled.path);
        const QueueUse* row = desk.estate.queue_uses.find(id);
        if (row && row->used == used) continue;
        --most;
        if (used == Amount{}) {
            if (row) desk.estate.queue_uses.erase(id);
            continue;
        }
        if (!row)
            desk.estate.queue_uses.add({.id = id,
                                        .tenant = settled.path.tenant,
                                        .project = settled.path.project,
                                        .user = settled.path.user});
        QueueUse& now = desk.estate.queue_uses.edit(id);
        now.used = used;
        now.at = settled.at;
    }
}

}  // namespace hostler::master
