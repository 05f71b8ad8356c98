// only-run ARTIFACT: runs y = 2 x + 1 into memory of its own.
#include <joule/Session.h>

#include <cstdio>

int main(int, char **argv) {
  auto artifact = joule::Artifact::open(argv[1]);
  auto device = joule::Device::open("virtual");
  auto session = joule::Session::create(*artifact, *device);
  float x[2] = {10, 20}, y[2];
  auto shapes =
      session->run({{"x", {joule::ElementType::Float32, {2}, x, sizeof x}}}, {{"y", {y, sizeof y}}});
  if (!shapes)
    return std::puts(shapes.error().toString().c_str()), 1;
  std::printf("%s: %g %g\n", joule::toString(shapes->at("y")).c_str(), y[0], y[1]);
}
