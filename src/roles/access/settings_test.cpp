#include "roles/access/settings.h"

#include "core/testing/explained.h"

namespace hostler::access {
namespace {

TEST(Settings, EachIsExplainedInItsOrder) { testing::expect_explained<Settings>(settings_help); }

}  // namespace
}  // namespace hostler::access
