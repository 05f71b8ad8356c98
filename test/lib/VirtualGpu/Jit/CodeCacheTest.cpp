// Code that one process compiles and another loads: the same results, and nothing that is wrong in the folder
// can do harm.
#include "lib/VirtualGpu/Jit/CodeCache.h"
#include "test/lib/VirtualGpu/Harness.h"
#include "test/lib/VirtualGpu/Jit/RandomPtx.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace joule::vgpu::test {
namespace {

namespace fs = std::filesystem;
using jit::CodeCache;

class Folder {
public:
  Folder() : path(fs::temp_directory_path() / ("joule-code-cache-" + std::to_string(getpid()))) {
    fs::remove_all(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string text() const { return path.string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (auto &entry : fs::directory_iterator(path))
      all.push_back(entry.path());
    return all;
  }
  const fs::path path;
};

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
void overwrite(const fs::path &path, const std::string &content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// What a fresh module's kernel writes.
std::vector<uint32_t> run(const RandomKernel &kernel, EngineChoice engine) {
  setDefaultEngine(engine);
  Device device(kernel.ptx);
  Device::Shape shape;
  shape.grid[0] = kernel.grid;
  std::copy(kernel.block, kernel.block + 3, shape.block);
  std::mt19937 random(1);
  std::vector<uint32_t> in(randomInputWords);
  for (uint32_t &word : in)
    word = random() % 1024;
  size_t threads = size_t(kernel.grid) * kernel.block[0] * kernel.block[1] * kernel.block[2];
  std::vector<uint32_t> out(threads * randomOutputWords + 64, 0);
  uint64_t from = device.upload(in), to = device.upload(out);
  LaunchResult result = device.launch("k", shape, from, to, uint32_t(17));
  EXPECT_EQ(result.fault, FaultKind::None) << result.message;
  return device.download<uint32_t>(to, out.size());
}

struct Made {
  uint64_t compiled, loaded;
};
/// Runs the kernel as compiled code, compares it with the interpreter, and tells where the code came from.
Made made(const RandomKernel &kernel) {
  EngineUse before = engineUse();
  EXPECT_EQ(run(kernel, EngineChoice::Compiled), run(kernel, EngineChoice::Interpreter));
  EngineUse after = engineUse();
  EXPECT_EQ(before.refusedKernels, after.refusedKernels) << after.lastRefusal;
  return {after.compiledKernels - before.compiledKernels, after.loadedKernels - before.loadedKernels};
}

TEST(CodeCache, KernelsAreCompiledOnce) {
  Folder folder;
  useJit(folder.text());
  for (uint64_t seed : {3, 8, 21, 34}) {
    RandomKernel kernel = randomKernel(seed);
    EXPECT_EQ(made(kernel).compiled, 1u) << seed;
    // A further module: everything lies elsewhere.
    Made again = made(kernel);
    EXPECT_EQ(again.compiled, 0u) << seed;
    EXPECT_EQ(again.loaded, 1u) << seed;
  }
  EXPECT_EQ(folder.files().size(), 4u);
}

TEST(CodeCache, AnotherShapeOfBlockIsAnotherKernel) {
  Folder folder;
  useJit(folder.text());
  RandomKernel kernel = randomKernel(3);
  made(kernel);
  std::swap(kernel.block[0], kernel.block[1]);
  EXPECT_EQ(made(kernel).compiled, 1u);
}

/// The variable lies at another address in each module.
TEST(CodeCache, VariablesOfAModuleMayLieElsewhere) {
  Folder folder;
  useJit(folder.text());
  RandomKernel kernel = {"", 1, {32, 1, 1}};
  kernel.ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
               ".global .align 4 .b32 value[2] = {5, 7};\n.const .align 4 .b32 factor = 3;\n"
               ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
               ".reg .b64 %l, %a;\n.reg .b32 %r, %s;\nld.param.u64 %l, [out];\n"
               "mov.u64 %a, value;\nld.global.u32 %r, [%a+4];\nld.const.u32 %s, [factor];\n"
               "mul.lo.u32 %r, %r, %s;\nst.global.u32 [%l], %r;\nret;\n}\n";
  setDefaultEngine(EngineChoice::Compiled);
  EngineUse before = engineUse();
  Device one(kernel.ptx), other(kernel.ptx);
  for (Device *device : {&one, &other}) {
    uint64_t out = device->upload(std::vector<uint32_t>{0});
    device->run("k", {}, uint64_t(0), out, uint32_t(0));
    EXPECT_EQ(device->download<uint32_t>(out, 1)[0], 21u);
  }
  EXPECT_EQ(engineUse().compiledKernels, before.compiledKernels + 1);
  EXPECT_EQ(engineUse().loadedKernels, before.loadedKernels + 1);
}

TEST(CodeCache, DamagedFilesAreReplaced) {
  Folder folder;
  useJit(folder.text());
  RandomKernel kernel = randomKernel(3);
  made(kernel);
  ASSERT_EQ(folder.files().size(), 1u);
  const fs::path file = folder.files()[0];
  const std::string whole = contentOf(file);
  std::vector<std::string> damaged = {"", whole.substr(0, 40), whole.substr(0, whole.size() - 1), whole + "x"};
  for (size_t at : {size_t(0), size_t(30), size_t(100), whole.size() / 2, whole.size() - 1}) {
    damaged.push_back(whole);
    damaged.back()[at] = char(damaged.back()[at] ^ 1);
  }
  for (const std::string &text : damaged) {
    overwrite(file, text);
    EXPECT_EQ(made(kernel).compiled, 1u);
    EXPECT_EQ(contentOf(file).size(), whole.size());
    EXPECT_EQ(made(kernel).loaded, 1u);
  }
}

TEST(CodeCache, WhatDoesNotFitTheProgramIsNotRun) {
  Folder folder;
  useJit(folder.text());
  RandomKernel kernel = randomKernel(3);
  made(kernel);
  ASSERT_EQ(folder.files().size(), 1u);
  const std::string key = folder.files()[0].stem().string();
  CodeCache cache(folder.text());
  std::string whole, many(4096, '\xff');
  ASSERT_TRUE(cache.load(key, whole));
  for (const std::string &text : {std::string(), std::string(8, '\0'), many, whole.substr(0, whole.size() / 2)}) {
    cache.store(key, text); // its hash is right
    EXPECT_EQ(made(kernel).compiled, 1u);
  }
}

TEST(CodeCache, FoldersThatCannotBeUsedDoNoHarm) {
  Folder folder;
  fs::create_directories(folder.path);
  overwrite(folder.path / "file", "x");
  useJit(folder.text() + "/file/below");
  EXPECT_EQ(made(randomKernel(3)).compiled, 1u);
  useJit("/proc/joule");
  EXPECT_EQ(made(randomKernel(3)).compiled, 1u);
}

TEST(CodeCache, WhatOthersMayHaveWrittenIsNotRun) {
  Folder folder;
  CodeCache(folder.text()).store("key", "code");
  std::string content;
  ASSERT_TRUE(CodeCache(folder.text()).load("key", content));
  EXPECT_EQ(content, "code");
  chmod((folder.path / "key.code").c_str(), 0666);
  EXPECT_FALSE(CodeCache(folder.text()).load("key", content));
  CodeCache(folder.text()).store("key", "code");
  chmod(folder.text().c_str(), 0777);
  EXPECT_FALSE(CodeCache(folder.text()).load("key", content));
  chmod(folder.text().c_str(), 0700);
  fs::rename(folder.path / "key.code", folder.path / "other");
  fs::create_symlink(folder.path / "other", folder.path / "key.code");
  EXPECT_FALSE(CodeCache(folder.text()).load("key", content));
}

TEST(CodeCache, StaysSmall) {
  Folder folder;
  CodeCache cache(folder.text(), 10'000);
  for (int i = 0; i < 10; ++i) {
    cache.store("key" + std::to_string(i), std::string(3000, 'x'));
    auto age = std::chrono::minutes(10 - i);
    fs::last_write_time(folder.path / ("key" + std::to_string(i) + ".code"),
                        fs::file_time_type::clock::now() - age);
  }
  std::string content;
  EXPECT_FALSE(cache.load("key0", content));
  EXPECT_TRUE(cache.load("key9", content));
  EXPECT_LE(folder.files().size(), 3u);
}

TEST(CodeCache, ReadersNeverSeeHalfAFile) {
  Folder folder;
  auto work = [&](char letter) {
    CodeCache cache(folder.text());
    for (int i = 0; i < 100; ++i) {
      cache.store("key", std::string(20'000, letter));
      std::string content;
      if (cache.load("key", content)) {
        EXPECT_EQ(content, std::string(20'000, content.at(0)));
      }
    }
  };
  std::thread other(work, 'a');
  work('b');
  other.join();
  EXPECT_EQ(folder.files().size(), 1u);
}

/// No test of its own: the tests below run it in processes of their own, with a folder that they name.
TEST(CodeCacheProcess, DISABLED_RunsAKernel) {
  useJit(getenv("JOULE_TEST_FOLDER"));
  Made it = made(randomKernel(8));
  printf("compiled %d, loaded %d\n", int(it.compiled), int(it.loaded));
}

FILE *startProcess(const Folder &folder) {
  setenv("JOULE_TEST_FOLDER", folder.text().c_str(), 1);
  // Whoever runs these tests in shards means this process alone.
  std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX -u GTEST_OUTPUT '" +
                        fs::read_symlink("/proc/self/exe").string() +
                        "' --gtest_also_run_disabled_tests '--gtest_filter=CodeCacheProcess.*RunsAKernel'";
  return popen(command.c_str(), "r");
}
std::string finish(FILE *process) {
  std::string text;
  for (int c; (c = fgetc(process)) != EOF;)
    text += char(c);
  EXPECT_EQ(pclose(process), 0) << text;
  size_t at = text.find("compiled "); // the line's begin
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}

TEST(CodeCache, ASecondProcessCompilesNothing) {
  Folder folder;
  EXPECT_EQ(finish(startProcess(folder)), "compiled 1, loaded 0");
  EXPECT_EQ(finish(startProcess(folder)), "compiled 0, loaded 1");
}

TEST(CodeCache, TwoProcessesMayBeginAtOnce) {
  Folder folder;
  FILE *one = startProcess(folder), *other = startProcess(folder);
  finish(one);
  finish(other);
  EXPECT_EQ(folder.files().size(), 1u);
  EXPECT_EQ(finish(startProcess(folder)), "compiled 0, loaded 1");
}

} // namespace
} // namespace joule::vgpu::test
