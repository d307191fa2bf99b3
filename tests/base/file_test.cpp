#include "driftaudit/file.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

class FileTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-test"};
  const fs::path& root() const { return folder_.path(); }
};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  write_file(root() / "a", std::string("x\0y", 3));
  EXPECT_EQ(read_file(root() / "a"), std::string("x\0y", 3));
}

TEST_F(FileTest, RefusesAFileLargerThanAllowed) {
  write_file(root() / "a", "12345");
  EXPECT_THROW(read_file(root() / "a", 4), Error);
}

TEST_F(FileTest, RefusesAFolderAsAFile) { EXPECT_THROW(read_file(root()), Error); }

TEST_F(FileTest, MapsAnEmptyFileToNothing) {
  write_file(root() / "a", "");
  EXPECT_TRUE(MappedFile(root() / "a").bytes().empty());
}

TEST_F(FileTest, AnUncommittedFileLeavesTheOldOne) {
  write_file(root() / "a", "old");
  {
    AtomicFile file(root() / "a");
    file.write("new");
  }
  EXPECT_EQ(read_file(root() / "a"), "old");
  EXPECT_EQ(entries(root()), 1U);
}

TEST_F(FileTest, OverwritesAHeaderBeforeCommit) {
  AtomicFile file(root() / "a");
  file.write("....body");
  file.write_at(0, std::as_bytes(std::span("head", 4)));
  file.commit();
  EXPECT_EQ(read_file(root() / "a"), "headbody");
}

TEST_F(FileTest, AnUnwritableTargetIsAUsageErrorThatNamesIt) {
  try {
    AtomicFile file(root() / "missing" / "a");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_NE(std::string(error.what()).find("missing/a"), std::string::npos);
  }
}

TEST_F(FileTest, AFolderAsTargetIsRefusedBeforeAnythingIsWritten) {
  EXPECT_THROW(AtomicFile(root(), false), Error);
}

TEST_F(FileTest, WritesThroughASymbolicLink) {
  write_file(root() / "real", "old");
  fs::create_symlink("real", root() / "link");
  write_file(root() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(root() / "link"));
  EXPECT_EQ(read_file(root() / "real"), "new");
  fs::create_symlink("later", root() / "dangling");
  write_file(root() / "dangling", "made");
  EXPECT_EQ(read_file(root() / "later"), "made");
}

TEST_F(FileTest, NeverReplacesADeviceOrAFifo) {
  ASSERT_EQ(::mkfifo((root() / "fifo").c_str(), 0600), 0);
  EXPECT_THROW(AtomicFile(root() / "fifo", false), Error);
  EXPECT_TRUE(fs::is_fifo(root() / "fifo"));
}

TEST_F(FileTest, RefusesAFifoWithoutWaitingForItsWriter) {
  ASSERT_EQ(::mkfifo((root() / "fifo").c_str(), 0600), 0);
  EXPECT_THROW(read_file(root() / "fifo"), Error);
}

TEST_F(FileTest, ATemporaryFolderVanishesUnlessMoved) {
  fs::path left;
  {
    TemporaryFolder temporary(root(), "t");
    left = temporary.path();
    write_file(left / "a", "x");
  }
  EXPECT_FALSE(fs::exists(left));
  TemporaryFolder kept(root(), "t");
  kept.move_to(root() / "kept");
  EXPECT_TRUE(fs::is_directory(root() / "kept"));
}

TEST_F(FileTest, ALockKeepsAnotherProcessOut) {
  const FileLock lock(root() / "lock");
  const pid_t child = fork();
  if (child == 0) {
    _exit(FileLock::try_lock(root() / "lock") ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(FileTest, ALockIsFreeAgainAfterItsOwner) {
  { const FileLock lock(root() / "lock"); }
  EXPECT_TRUE(FileLock::try_lock(root() / "lock").has_value());
}

TEST_F(FileTest, FreeSpaceIsKnownForAFolderThatDoesNotExistYet) {
  EXPECT_GT(free_disk_bytes(root() / "not" / "yet"), 0U);
}

}  // namespace
}  // namespace drift
