#include "roles/master/state/feature.h"
#include "roles/master/uplink/outbox.h"

namespace hostler::master {

extern const Feature uplink_feature{
    .name = "uplink",
    .tell = [](Term& term) { Outbox::of(term).send_again(); },
    .published = [](Term& term, std::span<const Touched> touched) { Outbox::of(term).published(touched); },
};

}  // namespace hostler::master
