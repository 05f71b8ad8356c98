"""Fits the polynomials of expand-math and writes MathCoefficients.h.

Usage: python3 FitCoefficients.py > MathCoefficients.h      (needs mpmath)

Each polynomial interpolates its function at Chebyshev nodes, which comes within a small factor of the best there is;
degrees are chosen so that what is left is well below half a unit in the last place of the result.
"""
import mpmath as mp

mp.mp.dps = 60


def fit(function, low, high, degree):
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 2))
             for k in range(degree + 1)]
    matrix = mp.matrix(degree + 1, degree + 1)
    values = mp.matrix(degree + 1, 1)
    for row, x in enumerate(nodes):
        values[row] = function(x)
        for column in range(degree + 1):
            matrix[row, column] = x**column
    return [solution for solution in mp.lu_solve(matrix, values)]


def error(function, low, high, coefficients):
    low, high = mp.mpf(low), mp.mpf(high)
    points = [low + (high - low) * k / 400 for k in range(401)]
    return max(abs(mp.polyval(coefficients[::-1], x) - function(x)) for x in points)


def root(f, limit):
    """f(sqrt(z)) with its value at 0."""
    return lambda z: limit if z < mp.mpf(10)**-40 else f(mp.sqrt(z))


def near_zero(f, limit):
    return lambda x: limit if abs(x) < mp.mpf(10)**-25 else f(x)


half_ln2 = mp.log(2) / 2 + mp.mpf('0.0005')
quarter_pi = (mp.pi / 4)**2 + mp.mpf('0.001')
octant = mp.tan(mp.pi / 8)**2 + mp.mpf('0.0001')
log_end = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))**2 + mp.mpf('0.00002')

functions = [
    # name, meaning, function, low, high, degree for f32, for f64
    ('exp', '(e^r - 1 - r) / r^2, |r| <= ln(2) / 2', near_zero(lambda r: (mp.expm1(r) - r) / r**2, mp.mpf(1) / 2),
     -half_ln2, half_ln2, 4, 10),
    ('log', '(2 atanh(s) / s - 2) / z, s = sqrt(z)',
     root(lambda s: (2 * mp.atanh(s) / s - 2) / s**2, mp.mpf(2) / 3), 0, log_end, 3, 7),
    ('logTail', '(2 atanh(s) / s - 2 - 2 z / 3) / z^2, s = sqrt(z)',
     root(lambda s: (2 * mp.atanh(s) / s - 2 - 2 * s**2 / 3) / s**4, mp.mpf(2) / 5), 0, log_end, 2, 7),
    ('sin', '(sin(s) / s - 1) / z, s = sqrt(z) <= pi / 4', root(lambda s: (mp.sin(s) / s - 1) / s**2, -mp.mpf(1) / 6),
     0, quarter_pi, 3, 6),
    ('cos', '(cos(s) - 1 + z / 2) / z^2, s = sqrt(z) <= pi / 4',
     root(lambda s: (mp.cos(s) - 1 + s**2 / 2) / s**4, mp.mpf(1) / 24), 0, quarter_pi, 3, 6),
    ('atan', '(atan(s) / s - 1) / z, s = sqrt(z) <= tan(pi / 8)',
     root(lambda s: (mp.atan(s) / s - 1) / s**2, -mp.mpf(1) / 3), 0, octant, 5, 11),
    ('asin', '(asin(s) / s - 1) / z, s = sqrt(z) <= 1 / 2',
     root(lambda s: (mp.asin(s) / s - 1) / s**2, mp.mpf(1) / 6), 0, mp.mpf('0.2501'), 5, 13),
    ('erf', 'erf(s) / s - 1, s = sqrt(z) <= 1', root(lambda s: mp.erf(s) / s - 1, 2 / mp.sqrt(mp.pi) - 1),
     0, mp.mpf('1.001'), 7, 12),
    ('erfc1', '-log(erfc(1.5 + t)), |t| <= 0.5', lambda t: -mp.log(mp.erfc(t + mp.mpf('1.5'))), '-0.501', '0.501', 6, 13),
    ('erfc2', '-log(erfc(2.75 + t)), |t| <= 0.75', lambda t: -mp.log(mp.erfc(t + mp.mpf('2.75'))), '-0.751', '0.751', 5, 11),
    ('erfc3', '-log(erfc(4.75 + t)), |t| <= 1.25', lambda t: -mp.log(mp.erfc(t + mp.mpf('4.75'))), '-1.251', '1.251', 4, 9),
]

print('// Polynomials of expand-math, lowest power first: for f32, then for f64. Written by FitCoefficients.py.')
print('#pragma once\n\n#include <cstdint>\n\nnamespace joule::coefficients {')
for name, meaning, function, low, high, single, twofold in functions:
    print(f'\n// {meaning}.')
    for suffix, degree in (('F32', single), ('F64', twofold)):
        found = fit(function, low, high, degree)
        left = error(function, low, high, found)
        print(f'// Off by at most 2^{mp.nstr(mp.log(left, 2), 4)}.')
        print(f'inline const double {name}{suffix}[] = {{')
        for coefficient in found:
            print(f'    {float(coefficient)!r},')
        print('};')
two_over_pi = mp.mpf(2) / mp.pi
mp.mp.dps = 500
two_over_pi = mp.mpf(2) / mp.pi
print('\n// The digits of 2 / pi behind the point, 64 bits a word, after a word of zeros.')
print('inline const uint64_t twoOverPi[] = {\n    0,')
for _ in range(20):
    two_over_pi *= mp.mpf(2)**64
    word = int(mp.floor(two_over_pi))
    two_over_pi -= word
    print(f'    0x{word:016x},')
print('};')
print('\n} // namespace joule::coefficients')
