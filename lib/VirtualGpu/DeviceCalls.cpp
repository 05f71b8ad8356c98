// The functions that the device's own library provides: vprintf, malloc, free, __assertfail. And what a
// thread takes of its local memory as it runs, and atomics of 16 bytes.
#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/DeviceMemory.h"
#include "lib/VirtualGpu/OnceHandlers.h"
#include "lib/VirtualGpu/Special.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace joule::vgpu {
namespace {

/// The `i`th argument of the call that the operation is.
u64 argument(const Op *op, u8 *r, unsigned i, unsigned lane) {
  const auto &site = *static_cast<const CallSite *>(op->data);
  u64 value = 0;
  if (i < site.arguments.size())
    memcpy(&value, r + site.arguments[i].offset + lane * site.arguments[i].bytes,
           site.arguments[i].bytes < 8 ? site.arguments[i].bytes : 8);
  return value;
}
void setResult(const Op *op, u8 *r, unsigned lane, u64 value) {
  const auto &site = *static_cast<const CallSite *>(op->data);
  if (!site.results.empty())
    memcpy(r + site.results[0].offset + lane * site.results[0].bytes, &value,
           site.results[0].bytes < 8 ? site.results[0].bytes : 8);
}

/// A string of the device's memory; false after a fault.
bool readString(Warp *w, const Op *op, u64 address, unsigned lane, std::string &text) {
  constexpr size_t longest = 1 << 16;
  text.clear();
  for (; text.size() < longest; ++address) {
    u64 host = hostAddress(w, op, address, inGeneric, 1, lane);
    if (!host)
      return raiseFault(w, op, FaultKind::IllegalAddress, address, lane), false;
    char c = *reinterpret_cast<const char *>(host);
    if (!c)
      return true;
    text += c;
  }
  return true;
}

// --- vprintf ---

/// One thread's output: the format, and its arguments from a buffer where each is aligned to its size.
class Printer {
public:
  Printer(Warp *w, const Op *op, unsigned lane, u64 arguments) : w(w), op(op), lane(lane), next(arguments) {}

  bool run(const std::string &format, std::string &out) {
    for (size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out += format[i++];
        continue;
      }
      size_t end = format.find_first_of("diouxXeEfFgGaAcspn%", i + 1);
      if (end == std::string::npos) {
        out += format.substr(i);
        return true;
      }
      if (!print(format.substr(i, end + 1 - i), out))
        return false;
      i = end + 1;
    }
    return true;
  }

private:
  static constexpr int mostWidth = 500;

  static size_t longestNumber(const std::string &spec) {
    size_t longest = 0, now = 0;
    for (char c : spec)
      longest = std::max(longest, now = c >= '0' && c <= '9' ? now + 1 : 0);
    return longest;
  }

  bool print(std::string spec, std::string &out) {
    char kind = spec.back();
    if (kind == '%')
      return out += '%', true;
    if (spec.find_first_not_of("-+ #.*hl0123456789", 1) != spec.size() - 1 || longestNumber(spec) > 3)
      return out += spec, true; // no format of the device's
    for (size_t star; (star = spec.find('*')) != std::string::npos;) {
      u64 width;
      if (!take(4, width))
        return false;
      spec.replace(star, 1, std::to_string(std::max(-mostWidth, std::min(mostWidth, int(width)))));
    }
    if (kind == 's')
      return printString(spec, out);
    bool isFloat = strchr("eEfFgGaA", kind) != nullptr, isWide = spec.find('l') != std::string::npos;
    u64 value;
    if (!take(isFloat || kind == 'p' || isWide ? 8 : 4, value))
      return false;
    return isFloat ? put(spec, out, asDouble(value)) : printInteger(spec, kind, isWide, value, out);
  }

  bool printString(const std::string &spec, std::string &out) {
    u64 address;
    std::string text;
    return take(8, address) && readString(w, op, address, lane, text) && put(spec, out, text.c_str());
  }

  /// The length in the format is the device's; the host's own is long long.
  bool printInteger(std::string spec, char kind, bool isWide, u64 value, std::string &out) {
    spec.pop_back();
    while (!spec.empty() && strchr("hlqjzt", spec.back()))
      spec.pop_back();
    if (kind == 'c')
      return put(spec + "c", out, int(value));
    if (kind == 'p')
      return put("0x%llx", out, static_cast<unsigned long long>(value));
    if (kind == 'n')
      return true;
    bool isSigned = kind == 'd' || kind == 'i';
    auto extended = isWide ? value : isSigned ? u64(int64_t(int32_t(u32(value)))) : u64(u32(value));
    return put(spec + "ll" + kind, out, static_cast<unsigned long long>(extended));
  }

  template <class T> bool put(const std::string &spec, std::string &out, T value) {
    char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    int length = snprintf(text, sizeof text, spec.c_str(), value);
#pragma GCC diagnostic pop
    out.append(text, length < 0 ? 0 : size_t(length) < sizeof text ? size_t(length) : sizeof text - 1);
    return true;
  }

  bool take(unsigned bytes, u64 &value) {
    next = (next + bytes - 1) & ~u64(bytes - 1);
    u64 host = hostAddress(w, op, next, inGeneric, bytes, lane);
    if (!host)
      return raiseFault(w, op, FaultKind::IllegalAddress, next, lane), false;
    value = 0;
    memcpy(&value, reinterpret_cast<const void *>(host), bytes);
    next += bytes;
    return true;
  }

  static double asDouble(u64 bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
  }

  Warp *w;
  const Op *op;
  unsigned lane;
  u64 next;
};

bool printAll(const Op *op, u8 *r, Warp *w) {
  std::string all;
  bool ok = eachLane(w, [&](unsigned lane) {
    std::string format;
    if (!readString(w, op, argument(op, r, 0, lane), lane, format))
      return false;
    setResult(op, r, lane, 0);
    return Printer(w, op, lane, argument(op, r, 1, lane)).run(format, all);
  });
  fwrite(all.data(), 1, all.size(), stdout);
  fflush(stdout);
  return ok;
}
template <bool M> Status printFormatted(const Op *op, u8 *r, Warp *w) {
  if (!printAll(op, r, w))
    return Status::Fault;
  JOULE_NEXT;
}

/// __assertfail(message, file, line, function, size of a character)
template <bool M> Status failAssertion(const Op *op, u8 *r, Warp *w) {
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  std::string message, file, function;
  if (!readString(w, op, argument(op, r, 0, lane), lane, message) ||
      !readString(w, op, argument(op, r, 1, lane), lane, file) ||
      !readString(w, op, argument(op, r, 3, lane), lane, function))
    return Status::Fault;
  fprintf(stderr, "%s:%u: %s: Assertion `%s` failed.\n", file.c_str(), u32(argument(op, r, 2, lane)),
          function.c_str(), message.c_str());
  return raiseFault(w, op, FaultKind::Assert, 0, lane);
}

// --- malloc and free ---

template <bool M> Status allocateMemory(const Op *op, u8 *r, Warp *w) {
  eachLane(w, [&](unsigned lane) {
    setResult(op, r, lane, allocateOnDevice(w, argument(op, r, 0, lane)));
    return true;
  });
  JOULE_NEXT;
}
template <bool M> Status freeMemory(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    u64 address = argument(op, r, 0, lane);
    bool known = address == 0 || releaseOnDevice(w, address);
    if (!known)
      raiseFault(w, op, FaultKind::IllegalAddress, address, lane);
    return known;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

// --- local memory that grows ---

/// The lanes of a group get the same address, so the largest request decides.
template <bool M> Status allocateLocal(const Op *op, u8 *r, Warp *w) {
  u64 most = 0, alignment = u64(op->imm);
  eachLane(w, [&](unsigned lane) {
    most = at<u64>(r, op->a)[lane] > most ? at<u64>(r, op->a)[lane] : most;
    return true;
  });
  u64 start = (*w->localTop + alignment - 1) & ~(alignment - 1);
  if (most > w->localStride || start > w->localStride - most)
    return raiseFault(w, op, FaultKind::StackOverflow, 0, unsigned(__builtin_ctz(w->mask)));
  *w->localTop = start + most;
  eachLane(w, [&](unsigned lane) {
    at<u64>(r, op->d)[lane] = start;
    return true;
  });
  JOULE_NEXT;
}
template <bool M> Status saveLocal(const Op *op, u8 *r, Warp *w) {
  eachLane(w, [&](unsigned lane) {
    at<u64>(r, op->d)[lane] = *w->localTop;
    return true;
  });
  JOULE_NEXT;
}
template <bool M> Status restoreLocal(const Op *op, u8 *r, Warp *w) {
  u64 most = 0;
  eachLane(w, [&](unsigned lane) {
    most = at<u64>(r, op->a)[lane] > most ? at<u64>(r, op->a)[lane] : most;
    return true;
  });
  *w->localTop = most < *w->localTop ? most : *w->localTop;
  JOULE_NEXT;
}

// --- atomics of 16 bytes ---

using Wide = unsigned __int128;

Wide compareAndSwap(Wide *p, Wide expected, Wide wanted) {
  u64 low = u64(expected), high = u64(expected >> 64);
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*p), "+a"(low), "+d"(high)
               : "b"(u64(wanted)), "c"(u64(wanted >> 64))
               : "cc", "memory");
  return Wide(high) << 64 | low;
}

/// n: compare and swap; else exchange.
template <bool M> Status atomicWide(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    u64 address =
        (op->flags & address32 ? u64(at<u32>(r, op->a)[lane]) : at<u64>(r, op->a)[lane]) + u64(op->imm);
    u64 host = address % 16 ? 0 : hostAddress(w, op, address, op->space, 16, lane);
    if (!host)
      return raiseFault(w, op, address % 16 ? FaultKind::Misaligned : FaultKind::IllegalAddress, address,
                        lane),
             false;
    Wide *p = reinterpret_cast<Wide *>(host), b, c, old;
    memcpy(&b, r + op->b + 16 * lane, 16);
    memcpy(&c, r + op->c + 16 * lane, 16);
    if (op->n) {
      old = compareAndSwap(p, b, c);
    } else {
      Wide seen = compareAndSwap(p, 0, 0);
      do
        old = seen;
      while ((seen = compareAndSwap(p, old, b)) != old);
    }
    if (op->d != noRegister)
      memcpy(r + op->d + 16 * lane, &old, 16);
    return true;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

#define JOULE_BOTH(name, ...)                                                                                \
  {name, __VA_ARGS__ false >, "own"}, { "masked." name, __VA_ARGS__ true >, "stop" }

const HandlerEntry entries[] = {
    JOULE_BOTH("device.vprintf", printFormatted <), JOULE_BOTH("device.__assertfail", failAssertion <),
    JOULE_BOTH("device.malloc", allocateMemory <),  JOULE_BOTH("device.free", freeMemory <),
    JOULE_BOTH("alloca", allocateLocal <),          JOULE_BOTH("stacksave", saveLocal <),
    JOULE_BOTH("stackrestore", restoreLocal <),     JOULE_BOTH("atom.16", atomicWide <),
};

} // namespace

HandlerTable handlersOfDevice() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
