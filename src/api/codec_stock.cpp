#include <fmt/format.h>

#include <algorithm>

#include "api/codec_define.h"
#include "api/types_stock.h"

HOSTLER_JSON(hostler::api::CreateStocks)
HOSTLER_JSON(hostler::api::DeleteStocks)
HOSTLER_JSON(hostler::api::Spec)
HOSTLER_JSON(hostler::api::GetSpec)
HOSTLER_JSON(hostler::api::CreateSpec)
HOSTLER_JSON(hostler::api::UpdateSpec)
HOSTLER_JSON(hostler::api::Stock)
HOSTLER_JSON(hostler::api::PrepareStock)
HOSTLER_JSON(hostler::api::UpdateStock)
HOSTLER_JSON(hostler::api::ListStocks)
HOSTLER_JSON(hostler::api::List<hostler::api::Spec>)
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
