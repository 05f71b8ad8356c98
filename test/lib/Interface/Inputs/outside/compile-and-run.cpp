// compile-and-run MODEL ARTIFACT: compiles y = 2 x + 1 and runs it on the virtual GPU.
#include <joule/Compiler.h>
#include <joule/Session.h>

#include <cstdio>
#include <cstring>

template <typename T> T orExit(joule::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().toString().c_str());
    std::exit(1);
  }
  return *result;
}

int main(int, char **argv) {
  orExit(joule::compile(argv[1], argv[2], {/*targets=*/{"a100"}}));
  joule::Artifact artifact = orExit(joule::Artifact::open(argv[2]));
  joule::Session session = orExit(joule::Session::create(artifact, orExit(joule::Device::open("virtual"))));
  float x[3] = {1, 2, 3}, y[3];
  auto outputs = orExit(session.run({{"x", {joule::ElementType::Float32, {3}, x, sizeof x}}}));
  std::memcpy(y, outputs.at("y").bytes.data(), sizeof y);
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
}
