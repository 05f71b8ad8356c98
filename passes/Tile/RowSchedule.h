// Schedules of work on rows.
#pragma once

#include "dialects/Nn/RowShape.h"
#include "dialects/Tile/TileDialect.h"

namespace joule {

/// How many threads share a row: one where rows are short, a warp where they fit its registers, a block where
/// they are long or too few to fill a GPU.
tile::ScheduleAttr chooseRowSchedule(const nn::RowShape &shape, int64_t indexBits);

} // namespace joule
