#include "roles/master/http/api.h"
#include "api/operations_spec.h"
#include "api/operations_stock.h"
#include "roles/master/stock/images.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "roles/master/stock/specs.h"
#include "roles/master/stock/view.h"

namespace hostler::master {

static Subject stock_subject(const Desk& desk, const std::string& spec_name) {
    const Spec* spec = desk.estate.specs.find(spec_name);
    return {"stock/" + spec_name, "", spec ? api::encode(view_stock(desk, *spec)) : ""};
}

static Subject spec_subject(const Desk& desk, const std::string& name) {
    const Spec* row = desk.estate.specs.find(name);
    return {"spec/" + name, "", row ? api::encode(view(*row)) : ""};
}

Subject subject_of(const Desk& desk, const api::Call&, const api::CreateStocks& request) {
    return stock_subject(desk, request.spec_name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::DeleteStocks& request) {
    return stock_subject(desk, request.spec_name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::CreateSpec& request) {
    return spec_subject(desk, request.name);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateSpec& request) {
    return spec_subject(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::GetSpec& request) {
    return spec_subject(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::PrepareStock& request) {
    return stock_subject(desk, request.spec);
}
Subject subject_of(const Desk& desk, const api::Call&, const api::UpdateStock& request) {
    return stock_subject(desk, request.spec);
}

void add_stocks(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_stocks>(
        [](Desk& desk, const api::Call&, const api::CreateStocks& request) -> Result<api::Empty> {
            TRY(create_stock(desk, request));
            return api::Empty{};
        });
    service.write<ops::delete_stocks>(
        [](Desk& desk, const api::Call&, const api::DeleteStocks& request) -> Result<api::Empty> {
            TRY(delete_stock(desk, request));
            return api::Empty{};
        });
    service.write<ops::prepare_stock>(
        [](Desk& desk, const api::Call&, const api::PrepareStock& request) -> Result<api::Stock> {
            TRY(prepare_stock(desk, request));
            return view_stock(desk, *TRY(spec_named(desk, request.spec)));
        });
    service.write<ops::update_stock>(
        [](Desk& desk, const api::Call&, const api::UpdateStock& request) -> Result<api::Stock> {
            TRY(update_stock(desk, request));
            return view_stock(desk, desk.estate.specs.at(request.spec));
        });
    service.write<ops::create_spec>(
        [](Desk& desk, const api::Call&, const api::CreateSpec& request) -> Result<api::Spec> {
            return view(*TRY(create_spec(desk, request)));
        });
    service.write<ops::update_spec>(
        [](Desk& desk, const api::Call&, const api::UpdateSpec& request) -> Result<api::Spec> {
            return view(*TRY(update_spec(desk, request)));
        });
    service.write<ops::delete_spec>(
        [](Desk& desk, const api::Call&, const api::GetSpec& request) -> Result<api::Empty> {
            TRY(delete_spec(desk, request.spec));
            return api::Empty{};
        });
    service.read<ops::list_specs>([](const Desk& desk, const api::Call& call, const api::Empty&) {
        return rows_of<api::Spec>(desk.estate.specs, [](const Spec&) { return true; })
            .page(call, [](const Spec& spec) { return view(spec); });
    });
    service.read<ops::get_spec>(
        [](const Desk& desk, const api::Call&, const api::GetSpec& request) -> Result<api::Spec> {
            return view(*TRY(spec_named(desk, request.spec)));
        });
    service.read<ops::list_stocks>(
        [](const Desk& desk, const api::Call& call, const api::ListStocks& request) {
            return rows_of<api::Stock>(desk.estate.specs,
                                       [&](const Spec& spec) {
                                           const api::Stock stock = view_stock(desk, spec);
                                           return !request.zone
                                                      ? stock.wanted > 0
                                                      : std::ranges::any_of(stock.zones, [&](const auto& in) {
                                                            return in.zone == *request.zone;
                                                        });
                                       })
                .page(call, [&](const Spec& spec) { return view_stock(desk, spec); });
        });
    service.read<ops::get_stock>(
        [](const Desk& desk, const api::Call&, const api::GetSpec& request) -> Result<api::Stock> {
            return view_stock(desk, *TRY(spec_named(desk, request.spec)));
        });
}

}  // namespace hostler::master
