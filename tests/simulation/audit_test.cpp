// The audit of a simulated cloud: a line that is lost, changed or written twice on its way into the store is
// found at the end of a storm.
#include <gtest/gtest.h>

#include "mistakes.h"

namespace hostler::simulation {

namespace {

// Does something to the lines of some commits, after the master has made a chain of them.
class CarelessStore final : public StoreBehind {
public:
    using Deed = std::function<void(std::vector<AuditLine>&)>;
    CarelessStore(Store& store, Deed deed) : StoreBehind(store), deed_(std::move(deed)) {}
    Task<> commit(Changes changes) override {
        if (changes.audit.size() > 0 && ++commits_ % 5 == 0) deed_(changes.audit);
        return store_.commit(std::move(changes));
    }

private:
    Deed deed_;
    int commits_ = 0;
};

std::uint64_t seeds_until_found(const CarelessStore::Deed& deed, const std::string& saying) {
    return seeds_until(
        Invariant::audit, Weather::deaths,
        [&](std::uint64_t) {
            Mistakes made;
            made.only = Invariant::audit;
            made.store = [deed](Store& under) { return std::make_unique<CarelessStore>(under, deed); };
            return made;
        },
        1, saying);
}

TEST(Mistakes, AnAuditLineThatIsLost) {
    EXPECT_NE(seeds_until_found([](auto& lines) { lines.erase(lines.begin()); }, "is missing"), 0u);
}

TEST(Mistakes, AnAuditLineThatIsChanged) {
    EXPECT_NE(seeds_until_found([](auto& lines) { lines.front().actor = "key/another"; },
                                "its contents are not those"),
              0u);
}

// A master that begins its term with an older end of the chain.
TEST(Mistakes, AChainThatIsContinuedFromTheWrongLine) {
    class OlderHead final : public StoreBehind {
    public:
        using StoreBehind::StoreBehind;
        Task<Snapshot> load() override { return older(store_.load()); }
        Task<Snapshot> load_since(StorePoint point) override { return older(store_.load_since(point)); }

    private:
        static Task<Snapshot> older(Task<Snapshot> loading) {
            Snapshot all = CO_TRY(co_await std::move(loading));
            if (all.audit.position > 1) --all.audit.position;
            co_return all;
        }
    };
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.only = Invariant::audit;
        made.store = [](Store& under) { return std::make_unique<OlderHead>(under); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::audit, Weather::deaths, mistakes, 1, "lines were moved, inserted"), 0u);
}

}  // namespace

}  // namespace hostler::simulation
