// Whatever is typed as a query or an order: nothing may crash, what is wrong is said, and what was taken can
// be asked of any value.
#include "api/query.h"
#include "api/types_offer.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    using namespace hostler::api;
    const std::string_view text{reinterpret_cast<const char*>(bytes), size};
    if (const auto query = parse_query(text, offer_fields)) {
        std::size_t before = 0;
        for (const QueryTerm& term : *query) {
            const QueryField& field = offer_fields[term.field];
            const bool is_text = field.kind == QueryKind::text || field.kind == QueryKind::words;
            HOSTLER_ASSERT(term.at > before && term.at <= size && !term.texts.empty());
            HOSTLER_ASSERT(is_text ? term.numbers.empty() : term.numbers.size() == term.texts.size());
            HOSTLER_ASSERT(text.substr(term.at - 1).starts_with(field.name));
            const QueryValue first =
                is_text ? QueryValue{term.texts.front()} : QueryValue{term.numbers.front()};
            const bool includes = term.comparison == Comparison::equal ||
                                  term.comparison == Comparison::at_least ||
                                  term.comparison == Comparison::at_most;
            HOSTLER_ASSERT(matches(term, field.kind, first) == includes);
            before = term.at;
        }
    } else {
        HOSTLER_ASSERT(!query.error().fields.empty());
    }
    if (const auto order = parse_order(text, offer_fields); !order)
        HOSTLER_ASSERT(!order.error().fields.empty());
    return 0;
}
