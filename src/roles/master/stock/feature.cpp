#include "roles/master/state/feature.h"
#include "roles/master/command/commands.h"
#include "roles/master/stock/images.h"
#include "roles/master/stock/slots.h"

namespace hostler::master {

void add_stocks(Api& service);

static constexpr ApiPart stock_api[] = {add_stocks};
static constexpr VerbRow stock_verbs[] = {
    {Verb::pull_image, note_pull},
};
extern const Feature stock_feature{
    .name = "stock",
    .api = stock_api,
    .verbs = stock_verbs,
    .sweep =
        [](Term&, Desk& desk) {
            fill_stock(desk);
            reconcile_images(desk);
        },
    .room_made = fill_stock,
};

}  // namespace hostler::master
