#include "report/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::ElementsAre;

TEST(ReadCpuinfo, TakesTheNameAndTheFlagsThatKernelsChooseBy) {
  HostRecord host;
  read_cpuinfo(
      "processor\t: 0\nmodel name\t: AMD EPYC 7713 64-Core Processor \n"
      "flags\t\t: fpu sse4_2 avx fma avx2 avx2x sha_ni\n\nprocessor\t: 1\nmodel name\t: Other\n",
      host);
  EXPECT_EQ(host.cpu, "AMD EPYC 7713 64-Core Processor");
  EXPECT_THAT(host.cpu_flags, ElementsAre("sse4_2", "avx", "fma", "avx2"));
}

TEST(ReadCpuinfo, FallsBackWhereThereIsNoModelName) {
  HostRecord host;
  read_cpuinfo("processor : 0\nFeatures : fp asimd sve\nCPU part : 0xd40\n", host);
  EXPECT_EQ(host.cpu, "0xd40");
  EXPECT_THAT(host.cpu_flags, ElementsAre("asimd", "sve"));
  read_cpuinfo("", host);
  EXPECT_EQ(host.cpu, "unknown");
  EXPECT_TRUE(host.cpu_flags.empty());
}

TEST(OsName, TakesThePrettyName) {
  EXPECT_EQ(os_name("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(os_name("PRETTY_NAME=Void"), "Void");
  EXPECT_EQ(os_name("NAME=x\n"), "");
}

TEST(ThisHost, KnowsTheMachine) {
  const HostRecord host = this_host();
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_FALSE(host.os.empty());
  EXPECT_EQ(host.kernel.rfind("Linux ", 0), 0U);
  EXPECT_GE(host.cores, 1U);
}

}  // namespace
}  // namespace drift
