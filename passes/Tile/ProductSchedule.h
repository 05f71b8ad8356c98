// Schedules of matrix products.
#pragma once

#include "dialects/Nn/MatrixProduct.h"
#include "dialects/Tile/TileDialect.h"

namespace joule {

/// The schedule that promises the least time on a GPU of so many multiprocessors, by a count of the
/// instructions that each candidate issues and of the multiprocessors that it keeps busy. Null where the map
/// family does as well.
tile::ScheduleAttr chooseProductSchedule(const nn::MatrixProduct &product, int64_t multiprocessors,
                                         int64_t indexBits);

} // namespace joule
