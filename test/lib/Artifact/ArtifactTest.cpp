// Artifacts: layout, weights, versions, damage.
#include "joule/Artifact.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Artifact/plan.pb.h"
#include "test/lib/TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::test;

// A model of one input "x" [batch, 4] and one output "y" [batch, ?].
static plan::Plan samplePlan() {
  plan::Plan plan;
  plan.set_version(1);
  plan.set_target("sm_80");
  plan.set_index_registers(2);
  plan::Symbol *symbol = plan.add_symbols();
  symbol->set_name("batch");
  plan::Tensor *x = plan.add_inputs();
  x->set_name("x");
  x->set_type(1);
  x->add_dims()->set_index(0);
  x->add_dims()->set_constant(4);
  plan::Tensor *y = plan.add_outputs();
  y->set_name("y");
  y->set_type(16);
  y->add_dims()->set_index(0);
  y->add_dims()->set_index(1);
  return plan;
}

static void writeSample(const std::string &path,
                        const std::function<void(ArtifactWriter &)> &more = nullptr) {
  Result<ArtifactWriter> writer = ArtifactWriter::begin(path);
  ASSERT_TRUE(writer) << writer.error().message;
  writer->setModelName("sample");
  if (more)
    more(*writer);
  ASSERT_TRUE(writer->addEntry("targets/sm_80/plan.pb", samplePlan().SerializeAsString()));
  ASSERT_TRUE(writer->finish());
}

TEST(Artifact, TellsWhatItHolds) {
  TemporaryFolder folder;
  writeSample(folder / "m.joule", [](ArtifactWriter &writer) {
    ASSERT_TRUE(writer.addEntry("targets/sm_80/kernels/relu.ptx", ".version 7.0"));
  });
  Result<Artifact> artifact = Artifact::open(folder / "m.joule");
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->targets(), std::vector<std::string>{"sm_80"});
  EXPECT_EQ(artifact->modelName(), "sample");
  ASSERT_EQ(artifact->inputs().size(), 1u);
  EXPECT_EQ(artifact->inputs()[0].name, "x");
  EXPECT_EQ(artifact->inputs()[0].type, ElementType::Float32);
  EXPECT_EQ(toString(artifact->inputs()[0].shape), "[batch, 4]");
  EXPECT_EQ(toString(artifact->outputs()[0].shape), "[batch, ?]");
  EXPECT_EQ(*artifact->read("targets/sm_80/kernels/relu.ptx"), ".version 7.0");
  EXPECT_EQ(artifact->read("no").error().code, ErrorCode::EntryMissing);
  EXPECT_TRUE(artifact->verify());
}

TEST(Artifact, HoldsEqualWeightsOnce) {
  TemporaryFolder folder;
  std::string bytes(100000, 'w');
  writeFile(folder / "data", "....." + bytes + bytes);
  std::string names[4];
  writeSample(folder / "m.joule", [&](ArtifactWriter &writer) {
    names[0] = *writer.addWeight(bytes);
    names[1] = *writer.addWeightFromFile(folder / "data", 5, bytes.size());
    names[2] = *writer.addWeightFromFile(folder / "data", 4, bytes.size());
    names[3] = *writer.addWeight(bytes);
  });
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(names[0], names[3]);
  EXPECT_NE(names[0], names[2]);
  EXPECT_EQ(names[0].size(), std::string("weights/").size() + 32);
  Result<Artifact> artifact = Artifact::open(folder / "m.joule");
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->entries().size(), 4u);
  EXPECT_EQ(*artifact->read(names[0]), bytes);
  EXPECT_EQ(*artifact->read(names[2]), "." + bytes.substr(1));
  EXPECT_TRUE(artifact->verify());
}

TEST(Artifact, CopiesPiecesOfFiles) {
  TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 3000000; ++i)
    bytes.push_back(static_cast<char>(i * 7 >> 3));
  writeFile(folder / "data", bytes);
  writeSample(folder / "m.joule", [&](ArtifactWriter &writer) {
    ASSERT_TRUE(writer.addEntryFromFile("report.json", folder / "data", 11, 2500000));
  });
  Result<Artifact> artifact = Artifact::open(folder / "m.joule");
  ASSERT_TRUE(artifact);
  EXPECT_EQ(*artifact->read("report.json"), bytes.substr(11, 2500000));
}

TEST(Artifact, AFileThatIsTooShortIsAnError) {
  TemporaryFolder folder;
  writeFile(folder / "data", "12345");
  Result<ArtifactWriter> writer = ArtifactWriter::begin(folder / "m.joule");
  EXPECT_EQ(writer->addEntryFromFile("a", folder / "data", 3, 3).error().code, ErrorCode::FileUnreadable);
  EXPECT_EQ(writer->addWeightFromFile(folder / "none", 0, 3).error().code, ErrorCode::FileUnreadable);
}

TEST(Artifact, VerifyFindsAWeightOfAnotherName) {
  TemporaryFolder folder;
  writeSample(folder / "m.joule", [](ArtifactWriter &writer) {
    ASSERT_TRUE(writer.addEntry("weights/00000000000000000000000000000000", "not that"));
  });
  Result<Artifact> artifact = Artifact::open(folder / "m.joule");
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->verify().error().code, ErrorCode::ArtifactDamaged);
}

TEST(Artifact, SurvivesChangedBytes) {
  TemporaryFolder folder;
  writeSample(folder / "m.joule", [](ArtifactWriter &writer) { ASSERT_TRUE(writer.addWeight("weight")); });
  std::string whole = readFile(folder / "m.joule");
  unsigned random = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = whole;
    for (int flips = 0; flips < 3; ++flips) {
      random = random * 1664525 + 1013904223;
      // Mostly at the end, where the directory is.
      size_t at = (random >> 8) % (i % 2 ? whole.size() : 500);
      changed[whole.size() - 1 - at] ^= static_cast<char>(1 << (random >> 5) % 8);
    }
    writeFile(folder / "n.joule", changed);
    if (Result<Artifact> artifact = Artifact::open(folder / "n.joule"))
      (void)artifact->verify();
  }
}

TEST(Manifest, RefusesNewerVersions) {
  Result<Manifest> manifest = parseManifest(R"({"format": "joule-artifact", "version": 3, "targets": []})");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, ErrorCode::ArtifactTooNew);
  EXPECT_EQ(manifest.error().message, "artifact version 3 is newer than 1, which this Joule reads");
}

TEST(Manifest, RefusesWhatIsNone) {
  for (const char *text : {"", "{", "[]", "3", "{}", R"({"format": "other", "version": 1, "targets": []})",
                           R"({"format": "joule-artifact", "targets": []})",
                           R"({"format": "joule-artifact", "version": "1", "targets": []})",
                           R"({"format": "joule-artifact", "version": 0, "targets": []})",
                           R"({"format": "joule-artifact", "version": 1})",
                           R"({"format": "joule-artifact", "version": 1, "targets": [1]})"})
    EXPECT_FALSE(parseManifest(text)) << text;
}

TEST(Manifest, NamesEntries) {
  EXPECT_EQ(planEntry("sm_80"), "targets/sm_80/plan.pb");
  EXPECT_EQ(targetOfPlan("targets/sm_80/plan.pb"), "sm_80");
  for (const char *name :
       {"targets/plan.pb", "targets//plan.pb", "targets/a/b/plan.pb", "plan.pb", "targets/a/plan.pbx"})
    EXPECT_FALSE(targetOfPlan(name)) << name;
}
