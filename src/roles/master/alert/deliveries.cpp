// What is done with messages until they have arrived.
#include <fmt/format.h>

#include <algorithm>

#include "roles/master/alert/alerts.h"
#include "roles/master/alert/book.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr int under_way_max = 16;

// 5 s, twice as long each time, 5 min at most.
Duration rest_after(int failed) {
    return std::min<Duration>(seconds{5} * (1 << std::min(failed - 1, 6)), seconds{300});
}

}  // namespace

std::vector<alert::Delivery> begin_deliveries(Desk& desk, Instant now) {
    AlertBook& book = desk.live.part<AlertBook>();
    std::map<std::string, const alert::Delivery*> oldest;
    for (const auto& [id, row] : desk.estate.alert_deliveries.all()) {
        const auto at = oldest.try_emplace(row.receiver, &row).first;
        if (std::pair(row.created_at, id) < std::pair(at->second->created_at, at->second->id))
            at->second = &row;
    }
    auto under_way = std::ranges::count_if(book.tries, [](const auto& row) { return row.second.under_way; });
    std::vector<alert::Delivery> begun;
    for (const auto& [receiver, delivery] : oldest) {
        if (under_way >= under_way_max) break;
        AlertBook::Try& its = book.tries[delivery->id];
        if (its.under_way || its.next > now) continue;
        its.under_way = true;
        ++under_way;
        begun.push_back(*delivery);
    }
    return begun;
}

void note_delivered(Desk& desk, const std::string& id) {
    AlertBook& book = desk.live.part<AlertBook>();
    book.tries.erase(id);
    const alert::Delivery* delivery = desk.estate.alert_deliveries.find(id);
    if (!delivery) return;
    AlertBook::Contact& contact = book.contacts[delivery->receiver];
    ++contact.delivered, ++book.delivered;
    contact.delivered_at = desk.estate.micros();
    contact.error.clear();
    desk.estate.alert_deliveries.erase(std::string{id});
}

void note_not_delivered(Desk& desk, const std::string& id, const std::string& why, Instant now) {
    AlertBook& book = desk.live.part<AlertBook>();
    AlertBook::Try& its = book.tries[id];
    its.under_way = false;
    const alert::Delivery* delivery = desk.estate.alert_deliveries.find(id);
    if (!delivery) {
        book.tries.erase(id);
        return;
    }
    AlertBook::Contact& contact = book.contacts[delivery->receiver];
    ++contact.failed, ++book.failed;
    contact.error = why;
    its.next = now + rest_after(++its.failed);
    if (desk.estate.micros() - delivery->created_at < alert::delivery_max_s * 1'000'000) return;
    ++book.given_up;
    desk.estate.event(
        "alert_receiver", delivery->receiver, delivery->tenant, "given_up",
        fmt::format("A notification about {} was not delivered within a day: {}", delivery->group, why));
    book.tries.erase(id);
    desk.estate.alert_deliveries.erase(std::string{id});
}

void drop_delivery(Desk& desk, const std::string& id) {
    desk.live.part<AlertBook>().tries.erase(id);
    if (desk.estate.alert_deliveries.find(id)) desk.estate.alert_deliveries.erase(std::string{id});
}

alert::Delivery audible(Desk& desk, alert::Delivery delivery) {
    std::vector<const alert::Silence*> all;
    for (const auto& [id, row] : desk.estate.alert_silences.all()) all.push_back(&row);
    std::erase_if(delivery.lines, [&](const alert::Line& line) {
        if (!alert::is_silenced(all, delivery.tenant, line.labels, desk.estate.micros())) return false;
        const alert::Alert* alert = desk.estate.alerts.find(line.alert);
        if (alert && alert->resolved_at == 0)
            desk.estate.alerts.edit(line.alert).told.erase(delivery.receiver);
        return true;
    });
    return delivery;
}

}  // namespace hostler::master
