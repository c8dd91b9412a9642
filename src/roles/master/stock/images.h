// Images in advance: what the hosts of a stock are to have before anybody asks for it.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct PrepareStock;
}  // namespace hostler::api

namespace hostler::master {

// From here on these images, and those of these templates, and no others. Errors: not_found (the spec),
// invalid (a template that there is not, naming its field).
Result<> prepare_stock(Desk& desk, const api::PrepareStock& request);

// One image of a stock, on its hosts.
struct PreparedImage {
    std::string image;          // Empty: the template is not there any more.
    std::string template_name;  // Whose image it is; empty: it is wanted by its own name.
    int hosts = 0;              // That are to have it: those with slots of the stock.
    int present = 0;            // That have it.
    int pulling = 0;            // On which it is being pulled or made.
    int failed = 0;             // On which that failed; it is tried again there.
    std::string reason;         // Why, on one of them.
    std::string message;
};
std::vector<PreparedImage> prepared_images(const Desk& desk, const std::string& spec);

// Asks hosts for what they lack: some at a time, and where it failed after a pause that doubles. By level.
void reconcile_images(Desk& desk);

struct CommandAnswer;
void note_pull(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

}  // namespace hostler::master
