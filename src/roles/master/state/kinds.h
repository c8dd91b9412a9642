// What the estate needs to know of each kind of object to keep it in the store's envelope.
#pragma once

#include <boost/describe/enum_to_string.hpp>
#include <string>
#include <string_view>

#include "core/result.h"
#include "domain/alert/plan.h"
#include "domain/billing/price.h"
#include "domain/command/command.h"
#include "domain/instance/instance.h"
#include "domain/inventory/authority.h"
#include "domain/inventory/claim.h"
#include "domain/inventory/drain.h"
#include "domain/inventory/host_record.h"
#include "domain/inventory/restore.h"
#include "domain/inventory/sealing_key.h"
#include "domain/inventory/zone.h"
#include "domain/network/network.h"
#include "domain/report/schedule.h"
#include "domain/scheduler/consolidation_record.h"
#include "domain/stock/stock.h"
#include "domain/tenancy/key.h"
#include "domain/tenancy/secret.h"
#include "domain/volume/volume.h"

namespace hostler::master {

template <class Enum>
std::string text_of(Enum value) {
    return boost::describe::enum_to_string(value, "");
}

template <class T>
struct Kind;

#define HOSTLER_KIND(type, kind_name, id_of, tenant_of, phase_of)                 \
    template <>                                                                   \
    struct Kind<type> {                                                           \
        static constexpr std::string_view name = kind_name;                       \
        static const std::string& id(const type& object) { return object.id_of; } \
        static std::string tenant(const type& object) { return tenant_of; }       \
        static std::string phase(const type& object) { return phase_of; }         \
    };

HOSTLER_KIND(Zone, "zone", name, "", "")
HOSTLER_KIND(AccessPoint, "access_point", name, "", "")
HOSTLER_KIND(Gateway, "gateway", name, "", "")
HOSTLER_KIND(HostToken, "host_token", id, "", object.host.empty() ? "unused" : "used")
HOSTLER_KIND(Host, "host", id, "", text_of(object.phase))
HOSTLER_KIND(Drain, "drain", host, "", object.empty_at != 0 ? "drained" : "draining")
HOSTLER_KIND(Spec, "spec", name, "", "")
HOSTLER_KIND(Slot, "slot", id, "", text_of(object.phase))
HOSTLER_KIND(Price, "price", id, "", object.until == 0 ? "holding" : "ended")
HOSTLER_KIND(ConsolidationRecord, "consolidation", id, "", text_of(object.phase))
HOSTLER_KIND(StockImages, "stock_images", spec, "", "")
HOSTLER_KIND(Claim, "claim", id, object.tenant, text_of(object.use))
HOSTLER_KIND(Instance, "instance", id, object.tenant, text_of(object.phase))
HOSTLER_KIND(UsedName, "used_name", id, "", object.free ? "free" : "")  // Stays when its body is pruned.
HOSTLER_KIND(Volume, "volume", id, object.tenant, text_of(object.phase))
HOSTLER_KIND(Network, "network", id, object.tenant, "")
HOSTLER_KIND(Subnet, "subnet", id, object.tenant, object.leaving ? "leaving" : "ready")
HOSTLER_KIND(HostCommand, "command", id, "", text_of(object.phase))
HOSTLER_KIND(ApiKey, "api_key", id, object.tenant, object.revoked_at != 0 ? "revoked" : "valid")
HOSTLER_KIND(SignIn, "sign_in", hash, "", "")
HOSTLER_KIND(Secret, "secret", id, object.tenant, text_of(object.kind))
HOSTLER_KIND(Share, "share", id, object.tenant, "")
HOSTLER_KIND(Answer, "answer", id, object.tenant, "")
HOSTLER_KIND(Restore, "restore", id, "", "")
HOSTLER_KIND(AuthorityRecord, "authority", fingerprint, "", text_of(object.phase))
HOSTLER_KIND(CertificateHolder, "certificate_holder", name, "", "")
HOSTLER_KIND(alert::Rule, "alert_rule", id, object.tenant, "")
HOSTLER_KIND(alert::Silence, "alert_silence", id, object.tenant, "")
HOSTLER_KIND(alert::Receiver, "alert_receiver", id, object.tenant, "")
HOSTLER_KIND(alert::Alert, "alert", id, object.tenant, object.resolved_at == 0 ? "firing" : "resolved")
HOSTLER_KIND(alert::Delivery, "alert_delivery", id, object.tenant, "")
HOSTLER_KIND(report::Schedule, "report_schedule", id, object.tenant, "")
HOSTLER_KIND(report::Kept, "report", id, object.tenant, "")
HOSTLER_KIND(AdmittedKeys, "admitted_keys", name, "", "")
HOSTLER_KIND(SealingKey, "sealing_key", id, "", text_of(object.phase))
HOSTLER_KIND(LongOperation, "operation", id, object.tenant, text_of(object.phase))

#undef HOSTLER_KIND

// The body in the store; instantiated in stored.cpp alone. Unknown members of a newer release are let pass,
// missing ones keep their initialisers.
template <class T>
std::string encode_body(const T& object);
// The same, with what `before` has and this release does not know.
template <class T>
std::string encode_body_onto(const T& object, std::string_view before);
// `beyond` is told whether there is something that this release does not know. Errors: internal.
template <class T>
Result<T> decode_body(std::string_view body, bool* beyond = nullptr);

}  // namespace hostler::master
