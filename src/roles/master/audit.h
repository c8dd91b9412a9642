// Who did what to which object, and what that was before: one line for each operation of the API that changes
// something. A new one does not compile until it says here what it is about.
#pragma once

#include "api/handlers.h"
#include "roles/master/desk.h"

namespace hostler::master {

struct Subject {
    std::string name{};    // Kind and id: "volume/v-…"; empty: it has none yet.
    std::string tenant{};  // Whose it is; empty: the operator's.
    std::string shown{};   // As the API shows it, so without secrets; empty: it is not there.
};

// What a request is about, as it is now.
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateStocks& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::DeleteStocks& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateSpec& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateSpec& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetSpec& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::PrepareStock& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateStock& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateInstance& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameInstance& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetInstance& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::StopInstance& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::KeepAlive& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateInstance& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateZone& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateZone& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameZone& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::DrainAccessPoint& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetAccessPoint& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateHostToken& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameHostToken& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::DrainHost& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameHost& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateHost& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::RemoveHost& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetGpu& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateVolume& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameVolume& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::ResizeVolume& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::RenameNetwork& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateSecret& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSecret& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateSecret& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::SetPrice& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::RemovePrice& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateConsolidation& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::GetConsolidation& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateApiKey& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameApiKey& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateShare& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameShare& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameForeignWorkload& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::SettleForeignWorkload& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::RotateAuthority& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertRule& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertRule& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertRule& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertSilence& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertSilence& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateAlertReceiver& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplaceAlertReceiver& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameAlertReceiver& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::AdmitKey& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::RotateSealingKey& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSealingKey& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateReportSchedule& request);
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameReportSchedule& request);

// The same once it is done: what was made under a name of ours is known by the response alone.
template <class Request, class Response>
Subject subject_after(const Desk& desk, const api::Call& call, const Request& request, const Response&) {
    return subject_of(desk, call, request);
}
inline Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateHostToken&,
                             const api::CreatedHostToken& made) {
    return subject_of(desk, call, api::NameHostToken{made.id});
}
inline Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateConsolidation&,
                             const api::Consolidation& made) {
    return subject_of(desk, call, api::GetConsolidation{made.id});
}
inline Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateApiKey&,
                             const api::CreatedApiKey& made) {
    return subject_of(desk, call, api::NameApiKey{made.id});
}

// Its name is not the one any more by which it was asked for.
inline Subject subject_after(const Desk& desk, const api::Call& call, const api::RenameNetwork&,
                             const api::Network& renamed) {
    return subject_of(desk, call, api::RenameNetwork{.network = renamed.id});
}
inline Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateShare&,
                             const api::CreatedShare& made) {
    return subject_of(desk, call, api::NameShare{made.id});
}

inline Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateAlertSilence&,
                             const api::AlertSilence& made) {
    return subject_of(desk, call, api::NameAlertSilence{made.id});
}

void audit(Desk& desk, const api::Call& call, Subject before, Subject after);

}  // namespace hostler::master
