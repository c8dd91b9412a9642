// Which key seals what is secret in the store.
#include "roles/master/http/api.h"
#include "api/operations_sealing.h"
#include "roles/master/sealing/count.h"
#include "roles/master/sealing/keys.h"

namespace hostler::master {

namespace {

api::SealingKeys shown_keys(const Desk& desk, const Sealer& sealer) {
    const SealingCount& count = desk.live.part<SealingCount>();
    const auto here = sealer.keys();
    api::SealingKeys shown{.whole = count.whole()};
    if (count.at != 0) shown.counted_at = WallTime{std::chrono::microseconds{count.at}};
    if (!count.trouble.empty()) shown.message = count.trouble;
    for (const auto& [id, key] : desk.estate.sealing_keys.all()) {
        const auto values = count.values.find(id);
        auto& one = shown.keys.emplace_back(api::SealingKey{
            .id = id,
            .since = WallTime{std::chrono::microseconds{key.since}},
            .values = values == count.values.end() ? 0 : static_cast<std::int64_t>(values->second),
            .here = std::ranges::count(here, id) > 0});
        boost::describe::enum_from_string(text_of(key.phase).c_str(), one.state);
    }
    return shown;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call&, const api::RotateSealingKey&) {
    std::string shown;
    for (const auto& [id, key] : desk.estate.sealing_keys.all())
        shown += fmt::format("{}\"{}\":\"{}\"", shown.empty() ? "{" : ",", id, text_of(key.phase));
    return {"sealing_keys", "", shown.empty() ? "" : shown + "}"};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameSealingKey& request) {
    const SealingKey* key = desk.estate.sealing_keys.find(request.sealing_key);
    return key ? subject_named(*key, encode_body(*key)) : Subject{};
}

void add_sealing(Api& service) {
    namespace ops = api::ops;
    service.read<ops::get_sealing_keys>(
        [&service](const Desk& desk, const api::Call&, const api::Empty&) -> Result<api::SealingKeys> {
            return shown_keys(desk, TRY(service.leader())->ports().sealer);
        });
    service.write<ops::rotate_sealing_key>(
        [&service](Desk& desk, const api::Call& call,
                   const api::RotateSealingKey& request) -> Result<api::SealingKeys> {
            const TermPtr term = TRY(service.leader());
            Sealer& sealer = term->ports().sealer;
            switch (request.step) {
                case api::SealingStep::begin:
                    if (!call.dry_run) TRY(begin_sealing_rotation(desk, sealer));
                    break;
                case api::SealingStep::finish: TRY(finish_sealing_rotation(desk, sealer)); break;
            }
            return shown_keys(desk, sealer);
        });
    service.write<ops::forget_sealing_key>(
        [&service](Desk& desk, const api::Call&,
                   const api::NameSealingKey& request) -> Result<api::SealingKeys> {
            const TermPtr term = TRY(service.leader());
            TRY(forget_sealing_key(desk, request.sealing_key));
            return shown_keys(desk, term->ports().sealer);
        });
}

}  // namespace hostler::master
