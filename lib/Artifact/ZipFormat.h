// The part of the ZIP format that artifacts use: stored entries, 64-bit sizes, no comments, no encryption.
//
//   file     = entry* directory end64? end
//   entry    = LocalHeader name extra data            data begins at a multiple of 4096
//   directory = (CentralHeader name extra)*           one per entry
//
// Numbers are little-endian. A size or offset that does not fit 32 bits is written as 0xFFFFFFFF and stands
// in an extra record of kind 1. A second extra record, of the kind that other aligning writers use, fills up
// to the alignment.
#pragma once

#include <cstdint>
#include <string>

namespace joule::zip {

constexpr uint32_t localSignature = 0x04034b50;
constexpr uint32_t centralSignature = 0x02014b50;
constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t locatorSignature = 0x07064b50;

constexpr uint64_t localBytes = 30;
constexpr uint64_t centralBytes = 46;
constexpr uint64_t endBytes = 22;
constexpr uint64_t end64Bytes = 56;
constexpr uint64_t locatorBytes = 20;

constexpr uint64_t recordHeaderBytes = 4; // kind and length of an extra record
constexpr uint16_t sizesRecord = 0x0001;
constexpr uint16_t paddingRecord = 0xd935;
constexpr uint16_t utf8Flag = 0x0800;
constexpr uint16_t fixedDate = 0x0021; // 1980-01-01, the earliest that the format can say
constexpr uint64_t alignment = 4096;

constexpr uint16_t escape16 = 0xffff;
constexpr uint32_t escape32 = 0xffffffff;

/// Continues a CRC-32 over more bytes; begins with 0.
uint32_t crc32(uint32_t crc, const void *bytes, size_t size);

} // namespace joule::zip
