#include "roles/gateway/settings.h"

#include "core/testing/explained.h"

namespace hostler::gateway {
namespace {

TEST(Settings, EachIsExplainedInItsOrder) { testing::expect_explained<Settings>(settings_help); }

}  // namespace
}  // namespace hostler::gateway
