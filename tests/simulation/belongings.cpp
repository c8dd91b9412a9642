#include "belongings.h"

namespace hostler::simulation {

namespace {

bool is_of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// "red-team-1" is no word of "red-team-12".
bool has_word(const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end])))
            return true;
    }
    return false;
}

}  // namespace

void Belongings::learn() {
    const auto term = cloud_.term();
    if (!term || learned_ == cloud_.store_ledger.calls) return;
    learned_ = cloud_.store_ledger.calls;
    const auto& estate = term->look().estate;
    const auto all_of = [this](const auto& table) {
        for (const auto& [id, row] : table.all()) {
            if (row.tenant.empty()) continue;
            Place place{row.tenant, {}};
            if constexpr (requires { row.project; }) place.project = row.project;
            of_.insert_or_assign(id, place);
            if constexpr (requires { row.caller_id; }) of_.insert_or_assign(row.caller_id, place);
        }
    };
    all_of(estate.instances), all_of(estate.volumes), all_of(estate.networks), all_of(estate.subnets);
    all_of(estate.secrets), all_of(estate.operations), all_of(estate.api_keys), all_of(estate.users);
    all_of(estate.clusters), all_of(estate.cluster_nodes);
    all_of(estate.groups), all_of(estate.grants), all_of(estate.invitations), all_of(estate.service_accounts);
    for (const auto& [id, volume] : estate.volumes.all())
        of_.insert_or_assign(volume.name, Place{volume.tenant, volume.project});
}

bool Belongings::is_for(const Place& place, const Ears& ears) const {
    if (place.tenant != ears.tenant) return false;
    if (place.project.empty()) return true;  // Of its people: who they are is told within the tenant.
    return !ears.nothing && (ears.project.empty() || place.project == ears.project);
}

std::string Belongings::foreign_in(const std::string& text, const Ears& ears, const std::string& asked) {
    learn();
    for (const auto& [word, place] : of_)
        if (!is_for(place, ears) && has_word(text, word) && !has_word(asked, word)) return word;
    return {};
}

}  // namespace hostler::simulation
