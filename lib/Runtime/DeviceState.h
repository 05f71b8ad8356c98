// What an open device holds: its driver, its context, and the models loaded on it.
#pragma once

#include "joule/Device.h"
#include "lib/Artifact/ArtifactReader.h"
#include "lib/Runtime/Driver.h"
#include "lib/Runtime/LoadedModel.h"

#include <map>
#include <mutex>

namespace joule {

class Device::Impl : public std::enable_shared_from_this<Device::Impl> {
public:
  /// Opens a driver's device by its number.
  static Result<std::shared_ptr<Impl>> open(std::shared_ptr<const Driver> driver, int ordinal,
                                            std::string name);
  Impl(const Impl &) = delete;
  ~Impl();

  /// The artifact's weights and kernels for one target, loaded at most once while anybody holds them.
  Result<std::shared_ptr<const LoadedModel>> load(const Artifact &artifact, const std::string &target);

  /// Where the device sits, as sensors' libraries name it ("0000:17:00.0"). Error: DriverFailed.
  Result<std::string> busId() const;

  std::string name;
  DeviceProperties properties;
  std::shared_ptr<const Driver> driver;
  CUdevice device = 0;
  CUcontext context = nullptr;

private:
  Impl() = default;

  struct Held {
    std::weak_ptr<const Artifact::Impl> artifact; // an address alone may be that of a later artifact
    std::weak_ptr<const LoadedModel> model;
  };
  std::mutex mutex;
  std::map<std::pair<const Artifact::Impl *, std::string>, Held> models;
};

/// Makes a device's context the thread's own for as long as it lives.
class ContextScope {
public:
  ContextScope(const Driver &driver, CUcontext context) : driver(driver) {
    (void)driver.cuCtxPushCurrent_v2(context);
  }
  ContextScope(const ContextScope &) = delete;
  ~ContextScope() {
    CUcontext popped;
    (void)driver.cuCtxPopCurrent_v2(&popped);
  }

private:
  const Driver &driver;
};

} // namespace joule
