// What the machine itself reaches, for comparison.
#pragma once

#include <cstddef>

namespace joule::bench {

/// Of the processor, by all threads of this process: what else the machine does counts less than on a clock.
double seconds();
/// Best multiply-adds in f32, in FLOP/s, on `threads` cores.
double peakFma(unsigned threads);
/// y = a x + y over `n` elements, in elements per second.
double triad(size_t n, unsigned threads);
/// OpenBLAS's sgemm of n x n matrices, in FLOP/s; 0 where the library is not installed.
double openBlas(int n, unsigned threads);

} // namespace joule::bench
