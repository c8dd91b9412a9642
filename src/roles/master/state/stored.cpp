// The one place that knows how bodies are written: JSON of the described members.
#include "api/codec_define.h"
#include "roles/master/state/kinds.h"

// The structs of the trade have no help: they are not part of the API.
HOSTLER_JSON(hostler::NvLink)
HOSTLER_JSON(hostler::GpuFacts)
HOSTLER_JSON(hostler::GpuLink)
HOSTLER_JSON(hostler::HostFacts)
HOSTLER_JSON(hostler::GpuState)
HOSTLER_JSON(hostler::InstancePort)
HOSTLER_JSON(hostler::InstanceVariable)
HOSTLER_JSON(hostler::InstanceVolume)
HOSTLER_JSON(hostler::InstanceSecret)
HOSTLER_JSON(hostler::InstanceRun)
HOSTLER_JSON(hostler::Spot)
HOSTLER_JSON(hostler::Nearness)
HOSTLER_JSON(hostler::Terms)
HOSTLER_JSON(hostler::Wishes)
HOSTLER_JSON(hostler::InstanceSpec)
HOSTLER_JSON(hostler::StopSchedule)
HOSTLER_JSON(hostler::Zone)
HOSTLER_JSON(hostler::AccessPoint)
HOSTLER_JSON(hostler::Gateway)
HOSTLER_JSON(hostler::HostToken)
HOSTLER_JSON(hostler::GpuPeerFigure)
HOSTLER_JSON(hostler::GpuFigures)
HOSTLER_JSON(hostler::GpuRating)
HOSTLER_JSON(hostler::RatedGpu)
HOSTLER_JSON(hostler::DiskFigures)
HOSTLER_JSON(hostler::HostAdmission)
HOSTLER_JSON(hostler::SpeedFigures)
HOSTLER_JSON(hostler::AccessSpeed)
HOSTLER_JSON(hostler::Host)
HOSTLER_JSON(hostler::Drain)
HOSTLER_JSON(hostler::Spec)
HOSTLER_JSON(hostler::Slot)
HOSTLER_JSON(hostler::PriceTerms)
HOSTLER_JSON(hostler::Price)
HOSTLER_JSON(hostler::ConsolidationStep)
HOSTLER_JSON(hostler::ConsolidationRecord)
HOSTLER_JSON(hostler::StockImages)
HOSTLER_JSON(hostler::Claim)
HOSTLER_JSON(hostler::Instance)
HOSTLER_JSON(hostler::UsedName)
HOSTLER_JSON(hostler::Volume)
HOSTLER_JSON(hostler::Network)
HOSTLER_JSON(hostler::Subnet)
HOSTLER_JSON(hostler::HostCommand)
HOSTLER_JSON(hostler::ApiKey)
HOSTLER_JSON(hostler::SignIn)
HOSTLER_JSON(hostler::SecretValue)
HOSTLER_JSON(hostler::Secret)
HOSTLER_JSON(hostler::Share)
HOSTLER_JSON(hostler::Answer)
HOSTLER_JSON(hostler::Restore)
HOSTLER_JSON(hostler::AuthorityRecord)
HOSTLER_JSON(hostler::CertificateHolder)
HOSTLER_JSON(hostler::AdmittedKeys)
HOSTLER_JSON(hostler::SealingKey)
HOSTLER_JSON(hostler::LongOperation)
HOSTLER_JSON(hostler::alert::Told)
HOSTLER_JSON(hostler::alert::Rule)
HOSTLER_JSON(hostler::alert::Silence)
HOSTLER_JSON(hostler::alert::Receiver)
HOSTLER_JSON(hostler::alert::Alert)
HOSTLER_JSON(hostler::alert::Line)
HOSTLER_JSON(hostler::alert::Delivery)
HOSTLER_JSON(hostler::report::Schedule)
HOSTLER_JSON(hostler::report::Kept)

namespace hostler::master {

template <class T>
std::string encode_body(const T& object) {
    return api::encode(object);
}

template <class T>
std::string encode_body_onto(const T& object, std::string_view before) {
    return api::encode_onto(object, before);
}

template <class T>
Result<T> decode_body(std::string_view body, bool* beyond) {
    return api::decode_stored<T>(body, beyond);
}

#define HOSTLER_STORED(type)                                              \
    template std::string encode_body(const type&);                        \
    template std::string encode_body_onto(const type&, std::string_view); \
    template Result<type> decode_body(std::string_view, bool*);

HOSTLER_STORED(Zone)
HOSTLER_STORED(AccessPoint)
HOSTLER_STORED(Gateway)
HOSTLER_STORED(HostToken)
HOSTLER_STORED(Host)
HOSTLER_STORED(Drain)
HOSTLER_STORED(Spec)
HOSTLER_STORED(Slot)
HOSTLER_STORED(Price)
HOSTLER_STORED(ConsolidationRecord)
HOSTLER_STORED(StockImages)
HOSTLER_STORED(Claim)
HOSTLER_STORED(Instance)
HOSTLER_STORED(UsedName)
HOSTLER_STORED(Volume)
HOSTLER_STORED(Network)
HOSTLER_STORED(Subnet)
HOSTLER_STORED(HostCommand)
HOSTLER_STORED(ApiKey)
HOSTLER_STORED(SignIn)
HOSTLER_STORED(Secret)
HOSTLER_STORED(Share)
HOSTLER_STORED(Answer)
HOSTLER_STORED(Restore)
HOSTLER_STORED(AuthorityRecord)
HOSTLER_STORED(CertificateHolder)
HOSTLER_STORED(AdmittedKeys)
HOSTLER_STORED(SealingKey)
HOSTLER_STORED(LongOperation)
HOSTLER_STORED(alert::Rule)
HOSTLER_STORED(alert::Silence)
HOSTLER_STORED(alert::Receiver)
HOSTLER_STORED(alert::Alert)
HOSTLER_STORED(alert::Delivery)
HOSTLER_STORED(report::Schedule)
HOSTLER_STORED(report::Kept)

}  // namespace hostler::master
