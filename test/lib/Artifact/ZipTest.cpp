// The ZIP layer: what it writes, what other tools make of it, and what it refuses.
#include "lib/Artifact/ZipFormat.h"
#include "lib/Artifact/ZipReader.h"
#include "lib/Artifact/ZipWriter.h"
#include "test/lib/TemporaryFolder.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

using namespace joule;
using namespace joule::test;

// Three entries: text, nothing, and some bytes.
static void writeSample(const std::string &path, uint64_t escapeAbove = 0xfffffffe) {
  Result<ZipWriter> zip = ZipWriter::begin(path, escapeAbove);
  ASSERT_TRUE(zip) << zip.error().message;
  ASSERT_TRUE(zip->addEntry("hello.txt", "hello"));
  ASSERT_TRUE(zip->addEntry("empty", ""));
  ASSERT_TRUE(zip->addEntry("folder/bytes", std::string(10000, '\x7f')));
  ASSERT_TRUE(zip->finish());
}

// Reads everything that a file claims to hold.
static bool readsWhole(const std::string &path) {
  Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(path);
  if (!zip)
    return false;
  for (const auto &[name, entry] : (*zip)->entries())
    if (!(*zip)->verifiedEntry(name))
      return false;
  return true;
}

TEST(Crc32, IsTheUsualOne) {
  EXPECT_EQ(zip::crc32(0, "123456789", 9), 0xcbf43926u);
  std::string text(1000, 'x');
  for (size_t cut : {0, 1, 7, 8, 9, 999})
    EXPECT_EQ(zip::crc32(zip::crc32(0, text.data(), cut), text.data() + cut, text.size() - cut),
              zip::crc32(0, text.data(), text.size()));
}

TEST(Zip, ReadsBackWhatItWrote) {
  TemporaryFolder folder;
  for (uint64_t escapeAbove : {uint64_t(0xfffffffe), uint64_t(100), uint64_t(0)}) {
    writeSample(folder / "a.zip", escapeAbove);
    Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(folder / "a.zip");
    ASSERT_TRUE(zip) << zip.error().message;
    EXPECT_EQ((*zip)->entries().size(), 3u);
    EXPECT_EQ(*(*zip)->verifiedEntry("hello.txt"), "hello");
    EXPECT_EQ(*(*zip)->verifiedEntry("empty"), "");
    EXPECT_EQ((*zip)->verifiedEntry("folder/bytes")->size(), 10000u);
    EXPECT_FALSE((*zip)->entry("other"));
  }
}

TEST(Zip, AlignsData) {
  TemporaryFolder folder;
  writeSample(folder / "a.zip");
  Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(folder / "a.zip");
  ASSERT_TRUE(zip);
  for (const auto &[name, entry] : (*zip)->entries())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(entry.bytes.data()) % 4096, 0u) << name;
}

TEST(Zip, IsTheSameEveryTime) {
  TemporaryFolder folder;
  writeSample(folder / "a.zip");
  writeSample(folder / "b.zip");
  EXPECT_EQ(readFile(folder / "a.zip"), readFile(folder / "b.zip"));
}

TEST(Zip, OtherToolsReadIt) {
  TemporaryFolder folder;
  for (uint64_t escapeAbove : {uint64_t(0xfffffffe), uint64_t(100), uint64_t(0)}) {
    std::string path = folder / "a.zip";
    writeSample(path, escapeAbove);
    if (std::system("unzip -v > /dev/null 2>&1") == 0) {
      EXPECT_EQ(std::system(("unzip -tqq " + path).c_str()), 0);
    }
    std::string python = "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
                         "assert z.testzip() is None; assert z.read(\"hello.txt\") == b\"hello\"; "
                         "assert z.namelist() == [\"hello.txt\", \"empty\", \"folder/bytes\"]' ";
    if (std::system("python3 -c 'import zipfile' > /dev/null 2>&1") == 0) {
      EXPECT_EQ(std::system((python + path).c_str()), 0);
    }
  }
}

TEST(Zip, ADroppedEntryLeavesNoTrace) {
  TemporaryFolder folder;
  Result<ZipWriter> zip = ZipWriter::begin(folder / "a.zip");
  ASSERT_TRUE(zip);
  zip->beginEntry(4);
  ASSERT_TRUE(zip->write("abc", 3));
  ASSERT_TRUE(zip->dropEntry());
  ASSERT_TRUE(zip->addEntry("kept", "xyz"));
  zip->beginEntry(4);
  std::string large(100000, 'x');
  ASSERT_TRUE(zip->write(large.data(), large.size()));
  ASSERT_TRUE(zip->dropEntry());
  ASSERT_TRUE(zip->finish());
  EXPECT_LT(readFile(folder / "a.zip").size(), 10000u);
  EXPECT_TRUE(readsWhole(folder / "a.zip"));
}

TEST(Zip, RefusesTwoEntriesOfOneName) {
  TemporaryFolder folder;
  Result<ZipWriter> zip = ZipWriter::begin(folder / "a.zip");
  ASSERT_TRUE(zip->addEntry("a", "1"));
  EXPECT_EQ(zip->addEntry("a", "2").error().code, ErrorCode::EntryRepeated);
}

TEST(Zip, AppearsOnlyWhenFinished) {
  TemporaryFolder folder;
  {
    Result<ZipWriter> zip = ZipWriter::begin(folder / "a.zip");
    ASSERT_TRUE(zip->addEntry("a", "1"));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.zip"));
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Zip, ReplacesOnlyRegularFiles) {
  TemporaryFolder folder;
  writeFile(folder / "old", "old");
  writeSample(folder / "old");
  EXPECT_TRUE(readsWhole(folder / "old"));

  std::filesystem::create_directory(folder / "directory");
  EXPECT_EQ(ZipWriter::begin(folder / "directory").error().code, ErrorCode::FileUnwritable);
  EXPECT_EQ(ZipWriter::begin("/dev/null").error().code, ErrorCode::FileUnwritable);
  EXPECT_EQ(ZipWriter::begin(folder / "no/such/folder").error().code, ErrorCode::FileUnwritable);
  EXPECT_EQ(ZipWriter::begin("").error().code, ErrorCode::FileUnwritable);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(ZipWriter::begin(folder / "pipe").error().code, ErrorCode::FileUnwritable);
}

TEST(Zip, WritesThroughALink) {
  TemporaryFolder folder;
  writeFile(folder / "file", "old");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  writeSample(folder / "link");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(readsWhole(folder / "file"));
}

// A limit on file sizes stands in for a full disk.
TEST(Zip, AFullDiskIsAnErrorAndLeavesNothing) {
  TemporaryFolder folder;
  auto writeUnderLimit = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {20000, 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
    bool failed = false;
    {
      Result<ZipWriter> zip = ZipWriter::begin(folder / "a.zip");
      failed = zip && !zip->addEntry("a", std::string(100000, 'x'));
    }
    std::exit(failed && folder.files() == 0 ? 0 : 1);
  };
  EXPECT_EXIT(writeUnderLimit(), testing::ExitedWithCode(0), "");
}

TEST(Zip, RefusesEveryTruncation) {
  TemporaryFolder folder;
  for (uint64_t escapeAbove : {uint64_t(0xfffffffe), uint64_t(0)}) {
    writeSample(folder / "a.zip", escapeAbove);
    std::string whole = readFile(folder / "a.zip");
    for (size_t size = 0; size < whole.size(); size += size + 700 < whole.size() ? 97 : 1) {
      writeFile(folder / "b.zip", whole.substr(0, size));
      Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(folder / "b.zip");
      ASSERT_FALSE(zip) << size;
      ASSERT_EQ(zip.error().code, ErrorCode::ArtifactDamaged);
    }
  }
}

// A changed byte is refused, or it lies where nothing is read: padding, versions, attributes.
TEST(Zip, SurvivesEveryChangedByte) {
  TemporaryFolder folder;
  for (uint64_t escapeAbove : {uint64_t(0xfffffffe), uint64_t(0)}) {
    writeSample(folder / "a.zip", escapeAbove);
    std::string whole = readFile(folder / "a.zip");
    unsigned random = 1;
    for (size_t at = 0; at < whole.size(); at += at + 700 < whole.size() ? 41 : 1) {
      std::string changed = whole;
      random = random * 1664525 + 1013904223;
      changed[at] = static_cast<char>(changed[at] ^ (1 + (random >> 16) % 255));
      writeFile(folder / "b.zip", changed);
      (void)readsWhole(folder / "b.zip");
    }
  }
}

TEST(Zip, FindsChangedData) {
  TemporaryFolder folder;
  writeSample(folder / "a.zip");
  std::string bytes = readFile(folder / "a.zip");
  bytes[bytes.find("\x7f\x7f\x7f") + 5] ^= 1;
  writeFile(folder / "a.zip", bytes);
  Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(folder / "a.zip");
  ASSERT_TRUE(zip);
  EXPECT_TRUE((*zip)->verifiedEntry("hello.txt"));
  EXPECT_EQ((*zip)->verifiedEntry("folder/bytes").error().code, ErrorCode::ArtifactDamaged);
}

TEST(Zip, RefusesWhatIsNoArtifact) {
  TemporaryFolder folder;
  writeFile(folder / "text", std::string(5000, 'x'));
  EXPECT_EQ(ZipReader::open(folder / "text").error().code, ErrorCode::ArtifactDamaged);
  EXPECT_EQ(ZipReader::open(folder / "missing").error().code, ErrorCode::FileUnreadable);
  EXPECT_EQ(ZipReader::open("/tmp").error().code, ErrorCode::FileUnreadable);
}

// More than 4 GB for real; slow, so only on request: --gtest_also_run_disabled_tests.
TEST(Zip, DISABLED_HoldsMoreThanFourGigabytes) {
  TemporaryFolder folder;
  Result<ZipWriter> zip = ZipWriter::begin(folder / "a.zip");
  ASSERT_TRUE(zip);
  zip->beginEntry(3);
  std::string piece(64 << 20, 'x');
  for (int i = 0; i < 66; ++i)
    ASSERT_TRUE(zip->write(piece.data(), piece.size()));
  ASSERT_TRUE(zip->endEntry("big"));
  ASSERT_TRUE(zip->addEntry("after", "beyond"));
  ASSERT_TRUE(zip->finish());
  EXPECT_TRUE(readsWhole(folder / "a.zip"));
  EXPECT_EQ(std::system(("unzip -tqq " + (folder / "a.zip")).c_str()), 0);
  std::string python =
      "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
      "assert z.read(\"after\") == b\"beyond\"; assert z.getinfo(\"big\").file_size == 66 << 26' ";
  EXPECT_EQ(std::system((python + (folder / "a.zip")).c_str()), 0);
}
