#include "driftaudit/conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Conditions, TakeTheirValues) {
  Conditions conditions;
  set_condition("interop-threads", "3", conditions);
  set_condition("memory-limit", "2G", conditions);
  set_condition("alignment", "16", conditions);
  set_condition("denormals", "flush", conditions);
  EXPECT_EQ(conditions, (Conditions{3, std::uint64_t{2} << 30U, 16, true}));
}

TEST(Conditions, AreSpeltAsTheyAreRead) {
  EXPECT_THAT(unusual_conditions({}), IsEmpty());
  const Conditions conditions{3, std::uint64_t{1536} << 20U, 4, true};
  const auto unusual = unusual_conditions(conditions);
  EXPECT_THAT(unusual,
              UnorderedElementsAre(Pair("interop-threads", "3"), Pair("memory-limit", "1536M"),
                                   Pair("alignment", "4"), Pair("denormals", "flush")));
  Conditions again;
  for (const auto& [name, value] : unusual) {
    EXPECT_EQ(problem_of_condition(name, value), "");
    set_condition(name, value, again);
  }
  EXPECT_EQ(again, conditions);
}

TEST(Conditions, GoBackToTheUsual) {
  Conditions conditions{3, 1024, 4, true};
  set_condition("interop-threads", "1", conditions);
  set_condition("memory-limit", "none", conditions);
  set_condition("alignment", "64", conditions);
  set_condition("denormals", "keep", conditions);
  EXPECT_EQ(conditions, Conditions{});
}

TEST(Conditions, NameAValueThatTheyDontTake) {
  for (const auto& [name, value] :
       {std::pair("interop-threads", "0"), std::pair("interop-threads", "1025"),
        std::pair("interop-threads", ""), std::pair("memory-limit", "2GB"),
        std::pair("memory-limit", "0"), std::pair("alignment", "48"), std::pair("alignment", "2"),
        std::pair("alignment", "128"), std::pair("denormals", "zero")}) {
    EXPECT_THAT(problem_of_condition(name, value),
                ::testing::HasSubstr("\"" + std::string(value) + "\" is "));
  }
}

}  // namespace
}  // namespace drift
