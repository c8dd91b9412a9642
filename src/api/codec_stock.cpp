#include <fmt/format.h>

#include <algorithm>

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_stock.h"

HOSTLER_JSON(hostler::api::CreateStocks)
HOSTLER_JSON(hostler::api::DeleteStocks)
HOSTLER_JSON(hostler::api::Stock)
HOSTLER_JSON(hostler::api::PrepareStock)
HOSTLER_JSON(hostler::api::UpdateStock)
HOSTLER_JSON(hostler::api::ListStocks)
HOSTLER_JSON(hostler::api::List<hostler::api::Stock>)

namespace hostler::api {

void Rules<PrepareStock>::check(const PrepareStock& request, Wrong& wrong) {
    const auto each = [&](std::string_view name, const std::vector<std::string>& list, const Form& form) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::string path = fmt::format("{}[{}]", name, i);
            if (auto what = form.check(list[i]); !what.empty())
                wrong.push_back({std::move(path), std::move(what)});
            else if (std::ranges::count(list, list[i]) > 1)
                wrong.push_back({std::move(path), "is given twice"});
        }
    };
    each("images", request.images, forms::image);
    each("templates", request.templates, forms::label);
}

}  // namespace hostler::api

namespace hostler::api {

ApiArea stock_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_stocks,
        &delete_stocks,
        &list_stocks,
        &get_stock,
        &prepare_stock,
        &update_stock,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"stock", "Resources of instances, held in advance."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
