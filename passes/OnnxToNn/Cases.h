// Axes that only a run brings.
#pragma once

#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

/// The row takes axes that are not known when compiling, but few enough that each choice can be translated.
bool hasAxesOfTheRun(Node &node, const Row &row);

/// Translates the node once for each choice of axes; the run goes the way that fits.
LogicalResult translateEachChoice(Node &node, const Row &row);

} // namespace joule::translate
