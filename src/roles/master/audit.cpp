#include "roles/master/audit.h"

#include <fmt/format.h>

#include "roles/master/api_lookup.h"
#include "roles/master/consolidation_rules.h"
#include "roles/master/foreign_rules.h"
#include "roles/master/health_rules.h"
#include "roles/master/instance_rules.h"
#include "roles/master/price_rules.h"
#include "roles/master/secret_rules.h"
#include "roles/master/views.h"
#include "roles/master/volume_rules.h"

namespace hostler::master {

namespace {

template <class Row>
Subject named(const Row& row, std::string shown) {
    return {fmt::format("{}/{}", Kind<Row>::name, Kind<Row>::id(row)), Kind<Row>::tenant(row),
            std::move(shown)};
}

Subject stock(const Desk& desk, const std::string& spec_name) {
    const Spec* spec = desk.estate.specs.find(spec_name);
    return {"stock/" + spec_name, "", spec ? api::encode(view_stock(desk, *spec)) : ""};
}

Subject spec(const Desk& desk, const std::string& name) {
    const Spec* row = desk.estate.specs.find(name);
    return {"spec/" + name, "", row ? api::encode(view(*row)) : ""};
}

Subject host(const Desk& desk, const std::string& name) {
    const auto found = host_named(desk, name);
    return found ? named(**found, api::encode(view(desk, **found))) : Subject{};
}

Subject zone(const Desk& desk, const std::string& name) {
    const Zone* zone = desk.estate.zones.find(name);
    return {"zone/" + name, "", zone ? api::encode(view(desk, *zone)) : ""};
}

Subject access_point(const Desk& desk, const std::string& name) {
    const AccessPoint* row = desk.estate.access_points.find(name);
    return row ? named(*row, api::encode(view(desk, *row))) : Subject{};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateStocks& request) {
    return stock(desk, request.spec_name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::DeleteStocks& request) {
    return stock(desk, request.spec_name);
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateSpec& request) {
    return spec(desk, request.name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateSpec& request) {
    return spec(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::GetSpec& request) {
    return spec(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::PrepareStock& request) {
    return stock(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateStock& request) {
    return stock(desk, request.spec);
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateInstance& request) {
    const Instance* instance = find_instance(desk, request.tenant_id, request.instance_id);
    return instance ? named(*instance, api::encode(view(desk, *instance))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameInstance& request) {
    const auto found = instance_named(desk, call, request.instance_id, request.tenant_id);
    return found ? named(**found, api::encode(view(desk, **found))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::GetInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::StopInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::KeepAlive& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateInstance& request) {
    return subject_of(desk, call, api::NameInstance{request.instance, request.tenant_id});
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateZone& request) {
    return zone(desk, request.name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateZone& request) {
    return zone(desk, request.zone);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameZone& request) {
    return zone(desk, request.zone);
}

Subject subject_of(const Desk& desk, const api::Call&, const api::DrainAccessPoint& request) {
    return access_point(desk, request.access_point);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::GetAccessPoint& request) {
    return access_point(desk, request.access_point);
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateHostToken&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameHostToken& request) {
    const HostToken* token = desk.estate.host_tokens.find(request.host_token);
    return token ? named(*token, api::encode(view(*token))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::DrainHost& request) {
    return host(desk, request.host);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameHost& request) {
    return host(desk, request.host);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateHost& request) {
    return host(desk, request.host);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::RemoveHost& request) {
    return host(desk, request.host);
}

Subject subject_of(const Desk& desk, const api::Call&, const api::GetGpu& request) {
    const auto found = gpu_named(desk, request.gpu);
    return found
               ? Subject{"gpu/" + request.gpu, "", api::encode(explain_gpu(desk, *found->host, *found->gpu))}
               : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateSecret& request) {
    const Secret* secret = find_secret(desk, request.tenant_id.value_or(call.caller.tenant), request.name);
    return secret ? named(*secret, api::encode(view(*secret, users_of(desk, *secret)))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSecret& request) {
    const auto found = secret_named(desk, call, request.secret, request.tenant_id);
    return found ? named(**found, api::encode(view(**found, users_of(desk, **found)))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateSecret& request) {
    return subject_of(desk, call, api::NameSecret{request.secret, request.tenant_id});
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateVolume& request) {
    const Volume* volume = find_volume(desk, request.tenant_id.value_or(call.caller.tenant), request.name);
    return volume ? named(*volume, api::encode(view(desk, *volume))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameVolume& request) {
    const auto found = volume_named(desk, call, request.volume, request.tenant_id);
    return found ? named(**found, api::encode(view(desk, **found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ResizeVolume& request) {
    return subject_of(desk, call, api::NameVolume{request.volume, request.tenant_id});
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::RenameNetwork& request) {
    const auto found = network_named(desk, call, request.network, request.tenant_id);
    return found ? named(**found, api::encode(view(desk, **found))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::SetPrice& request) {
    const Price* price = holding_price(desk, terms_of(request));
    return price ? named(*price, api::encode(view(*price))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::RemovePrice& request) {
    const Price* price = holding_price(desk, terms_of(request));
    return price ? named(*price, api::encode(view(*price))) : Subject{};
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateConsolidation&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::GetConsolidation& request) {
    const ConsolidationRecord* run = desk.estate.consolidations.find(request.consolidation);
    return run ? named(*run, api::encode(view(desk, *run))) : Subject{};
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateApiKey&) { return {}; }
// A key that was revoked is kept, for its name in events; to its owner it is gone.
Subject subject_of(const Desk& desk, const api::Call&, const api::NameApiKey& request) {
    const ApiKey* key = desk.estate.api_keys.find(request.api_key);
    if (!key) return {};
    return named(*key, key->revoked_at == 0 ? api::encode(view(*key)) : "");
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateShare&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameShare& request) {
    const Share* share = desk.estate.shares.find(request.share);
    if (!share) return {};
    return named(*share, fmt::format(R"({{"instance":"{}","port":{}}})", share->instance, share->port));
}

// Of a workload that is adopted it is the instance from then on.
Subject subject_of(const Desk& desk, const api::Call&, const api::NameForeignWorkload& request) {
    if (const auto claim = find_foreign(desk, request.workload))
        return {"foreign_workload/" + request.workload, (*claim)->tenant,
                api::encode(view_foreign(desk, **claim))};
    const Instance* instance = desk.estate.instances.find(request.workload);
    return instance ? named(*instance, api::encode(view(desk, *instance))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::SettleForeignWorkload& request) {
    return subject_of(desk, call, api::NameForeignWorkload{request.workload});
}

Subject subject_of(const Desk& desk, const api::Call&, const api::RotateAuthority&) {
    std::string shown;
    for (const auto& [fingerprint, row] : desk.estate.authorities.all())
        shown += fmt::format("{}\"{}\":\"{}\"", shown.empty() ? "{" : ",", fingerprint, text_of(row.phase));
    return {"authority", "", shown.empty() ? "" : shown + "}"};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::AdmitKey& request) {
    const AdmittedKeys* row = desk.estate.admitted_keys.find(request.name);
    return {"admitted_keys/" + request.name, "", row ? encode_body(*row) : ""};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::RotateSealingKey&) {
    std::string shown;
    for (const auto& [id, key] : desk.estate.sealing_keys.all())
        shown += fmt::format("{}\"{}\":\"{}\"", shown.empty() ? "{" : ",", id, text_of(key.phase));
    return {"sealing_keys", "", shown.empty() ? "" : shown + "}"};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::NameSealingKey& request) {
    const SealingKey* key = desk.estate.sealing_keys.find(request.sealing_key);
    return key ? named(*key, encode_body(*key)) : Subject{};
}

void audit(Desk& desk, const api::Call& call, Subject before, Subject after) {
    const Subject& known = before.name.empty() ? after : before;
    desk.estate.audit({.time = desk.estate.time(),
                       .actor = call.caller.actor,
                       .address = call.caller.address,
                       .operation = std::string{call.operation->name},
                       .subject = known.name,
                       .tenant = known.tenant,
                       .status = call.operation->status,
                       .before = std::move(before.shown),
                       .after = std::move(after.shown),
                       .client = call.caller.client});
}

}  // namespace hostler::master
