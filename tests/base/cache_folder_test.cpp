// Which folder is taken for a cache: what is in it is run, and deleted.
#include <functional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/remove_tree.hpp"

#include "shared/scoped_environment.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CacheFolder : public ::testing::Test {
 protected:
  CacheFolder() { environment_.set("DRIFTAUDIT_CACHE", cache().string()); }

  fs::path root() const { return folder_.path(); }
  fs::path cache() const { return root() / "cache"; }

  static Error refusal(const std::function<void()>& act = [] { cache_folder(); }) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_FALSE(error.hint().empty());
      return error;
    }
    ADD_FAILURE() << "not refused";
    return {Status::kDone, ""};
  }

  static mode_t mode_of(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  test::ScopedEnvironment environment_;

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-cache"};
};

TEST_F(CacheFolder, IsMadeForItsOwnerAloneWhateverTheUmask) {
  const mode_t before = ::umask(0);
  EXPECT_EQ(cache_folder(), cache());
  make_folders(cache_part("runners") / "key");
  write_file(cache_part("runners") / "key" / "runner.json", "{}", true);
  ::umask(before);
  EXPECT_EQ(mode_of(cache()), 0700U);
  EXPECT_TRUE(fs::is_regular_file(cache() / kCacheMark));
  EXPECT_EQ(mode_of(cache() / "runners") & 022U, 0U);
  EXPECT_EQ(mode_of(cache() / "runners" / "key") & 022U, 0U);
  EXPECT_EQ(mode_of(cache() / "runners" / "key" / "runner.json") & 022U, 0U);
  EXPECT_EQ(cache_part("runners"), cache() / "runners");
}

TEST_F(CacheFolder, TakesAnEmptyFolderAndKnowsItAgain) {
  fs::create_directory(cache());
  fs::permissions(cache(), fs::perms::owner_all | fs::perms::others_read);
  cache_folder();
  write_file(cache() / "anything", "");
  EXPECT_EQ(cache_folder(), cache());
}

TEST_F(CacheFolder, IsNoFolderThatHoldsOtherThings) {
  make_folders(cache() / "scratch" / "letters");
  EXPECT_THAT(refusal().what(), AllOf(HasSubstr("DRIFTAUDIT_CACHE=" + cache().string()),
                                      HasSubstr("not empty, and no cache")));
  EXPECT_FALSE(fs::exists(cache() / kCacheMark));
  // An older version's, by what the hint says.
  EXPECT_THAT(refusal().hint(), HasSubstr("touch '" + (cache() / kCacheMark).string() + "'"));
  write_file(cache() / kCacheMark, "");
  EXPECT_EQ(cache_folder(), cache());
}

TEST_F(CacheFolder, DoesNotTakeALinkForTheMark) {
  fs::create_directory(cache());
  write_file(root() / "mark", "");
  fs::create_symlink(root() / "mark", cache() / kCacheMark);
  refusal();
}

TEST_F(CacheFolder, OfOurNameIsOursWithoutTheMark) {
  environment_.set("DRIFTAUDIT_CACHE", "");
  environment_.set("XDG_CACHE_HOME", root().string());
  const fs::path older = root() / "driftaudit";
  make_folders(older / "builds");
  EXPECT_EQ(cache_folder(), older);
  EXPECT_TRUE(fs::exists(older / kCacheMark));
  // As an umask of 002 had it made.
  fs::remove(older / kCacheMark);
  ::chmod(older.c_str(), 0775);
  EXPECT_EQ(cache_folder(), older);
  EXPECT_EQ(mode_of(older), 0700U);
  fs::remove(older / kCacheMark);
  ::chmod(older.c_str(), 0777);
  EXPECT_THAT(refusal().what(), HasSubstr("others may write to it (mode 777)"));
}

TEST_F(CacheFolder, IsNotOneThatOthersMayWriteTo) {
  cache_folder();
  for (const mode_t mode : {0777U, 0775U, 0757U, 01777U}) {
    ::chmod(cache().c_str(), mode);
    EXPECT_THAT(refusal().what(),
                AllOf(HasSubstr(cache().string()), HasSubstr("others may write")));
    EXPECT_THAT(refusal().hint(), HasSubstr("chmod -R go-w"));
  }
  ::chmod(cache().c_str(), 0755);
  EXPECT_EQ(cache_folder(), cache());
}

TEST_F(CacheFolder, BelongsToWhoRunsThis) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  cache_folder();
  ASSERT_EQ(::chown(cache().c_str(), 12345, 12345), 0);
  environment_.set("SUDO_UID", "");
  EXPECT_THAT(refusal().what(), HasSubstr("belongs to user 12345"));
  environment_.set("SUDO_UID", "12345");  // the person's own, and the person is root by sudo
  EXPECT_EQ(cache_folder(), cache());
}

TEST_F(CacheFolder, HasNoPartThatIsALinkOrOpenToOthers) {
  environment_.set("SUDO_UID", "");
  cache_folder();
  ::chmod(cache().c_str(), 0755);
  make_folders(root() / "elsewhere");
  fs::create_directory_symlink(root() / "elsewhere", cache() / "scratch");
  EXPECT_THAT(refusal([] { cache_part("scratch"); }).what(),
              HasSubstr((cache() / "scratch").string() + ": a symbolic link"));
  make_folders(cache() / "runners");
  ::chmod((cache() / "runners").c_str(), 0777);
  EXPECT_THAT(refusal([] { cache_part("runners"); }).what(),
              HasSubstr((cache() / "runners").string() + ": others may write"));
  // Nobody else gets to it.
  ::chmod(cache().c_str(), 0700);
  EXPECT_EQ(cache_part("runners"), cache() / "runners");
}

TEST_F(CacheFolder, MayLieBehindALink) {
  make_folders(root() / "large disk");
  fs::create_directory_symlink(root() / "large disk", cache());
  EXPECT_EQ(cache_folder(), cache());
  EXPECT_TRUE(fs::exists(root() / "large disk" / kCacheMark));
}

TEST_F(CacheFolder, IsClaimedByManyProcessesAtOnce) {
  for (int round = 0; round < 10; ++round) {
    environment_.set("DRIFTAUDIT_CACHE", (root() / std::to_string(round)).string());
    std::vector<pid_t> children(6);
    for (pid_t& child : children) {
      child = ::fork();
      if (child == 0) {
        try {
          make_folders(cache_part("locks"));
          cache_folder();
        } catch (const std::exception&) {
          ::_exit(1);
        }
        ::_exit(0);
      }
    }
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
  }
}

TEST_F(CacheFolder, ThatIsNoFolderIsNamed) {
  write_file(cache(), "");
  EXPECT_THAT(refusal().what(), HasSubstr("not a folder"));
}

TEST(RemoveTree, FollowsNoLink) {
  const TemporaryFolder folder(fs::temp_directory_path(), "driftaudit-remove");
  const fs::path kept = folder.path() / "kept";
  make_folders(kept / "deep");
  write_file(kept / "deep" / "file", "");
  const fs::path gone = folder.path() / "gone";
  make_folders(gone / "a" / "b");
  write_file(gone / "a" / "b" / "file", "");
  fs::create_directory_symlink(kept, gone / "a" / "link");
  fs::create_directory_symlink(kept, folder.path() / "link");
  EXPECT_TRUE(remove_tree(gone));
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(remove_tree(folder.path() / "link"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder.path() / "link")));
  EXPECT_TRUE(fs::exists(kept / "deep" / "file"));
  EXPECT_TRUE(remove_tree(folder.path() / "never was"));
}

}  // namespace
}  // namespace drift
