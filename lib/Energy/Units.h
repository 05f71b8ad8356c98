// Joules, watts, seconds, hertz, volts, bytes and flops as types, so that a sum of watts and joules does not
// compile.
#pragma once

namespace joule {

/// A number of (joule^Energy · second^Time · volt^Voltage · byte^Data · flop^Work). Products and quotients
/// have the type that physics gives them:
///
///   Watts power(300);  Seconds time(2);
///   Joules energy = power * time;      // <1, -1> · <0, 1> = <1, 0>
///   double ratio = energy / Joules(3); // no unit left: a plain number
template <int Energy, int Time, int Voltage = 0, int Data = 0, int Work = 0> class Quantity {
public:
  constexpr Quantity() = default;
  explicit constexpr Quantity(double value) : number(value) {}

  /// The number in joules, seconds, volts, bytes and flops.
  constexpr double value() const { return number; }

  constexpr Quantity operator+(Quantity other) const { return Quantity(number + other.number); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(number - other.number); }
  constexpr Quantity operator-() const { return Quantity(-number); }
  constexpr Quantity &operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity operator*(double factor) const { return Quantity(number * factor); }
  constexpr Quantity operator/(double divisor) const { return Quantity(number / divisor); }
  friend constexpr Quantity operator*(double factor, Quantity quantity) { return quantity * factor; }

  constexpr bool operator==(Quantity other) const { return number == other.number; }
  constexpr bool operator!=(Quantity other) const { return number != other.number; }
  constexpr bool operator<(Quantity other) const { return number < other.number; }
  constexpr bool operator>(Quantity other) const { return number > other.number; }
  constexpr bool operator<=(Quantity other) const { return number <= other.number; }
  constexpr bool operator>=(Quantity other) const { return number >= other.number; }

private:
  double number = 0;
};

using Joules = Quantity<1, 0>;
using Seconds = Quantity<0, 1>;
using Watts = Quantity<1, -1>;
using Hertz = Quantity<0, -1>;
using Volts = Quantity<0, 0, 1>;
using Bytes = Quantity<0, 0, 0, 1>;
using Flops = Quantity<0, 0, 0, 0, 1>; ///< operations, not operations a second; a multiply-add is two
using BytesPerSecond = Quantity<0, -1, 0, 1>;
using FlopsPerSecond = Quantity<0, -1, 0, 0, 1>;
using JoulesPerByte = Quantity<1, 0, 0, -1>;
using JoulesPerFlop = Quantity<1, 0, 0, 0, -1>;

/// What is left when all units cancel is a double.
template <int Energy, int Time, int Voltage, int Data, int Work> constexpr auto makeQuantity(double value) {
  if constexpr (Energy == 0 && Time == 0 && Voltage == 0 && Data == 0 && Work == 0)
    return value;
  else
    return Quantity<Energy, Time, Voltage, Data, Work>(value);
}

template <int E1, int T1, int V1, int D1, int W1, int E2, int T2, int V2, int D2, int W2>
constexpr auto operator*(Quantity<E1, T1, V1, D1, W1> lhs, Quantity<E2, T2, V2, D2, W2> rhs) {
  return makeQuantity<E1 + E2, T1 + T2, V1 + V2, D1 + D2, W1 + W2>(lhs.value() * rhs.value());
}

template <int E1, int T1, int V1, int D1, int W1, int E2, int T2, int V2, int D2, int W2>
constexpr auto operator/(Quantity<E1, T1, V1, D1, W1> lhs, Quantity<E2, T2, V2, D2, W2> rhs) {
  return makeQuantity<E1 - E2, T1 - T2, V1 - V2, D1 - D2, W1 - W2>(lhs.value() / rhs.value());
}

template <int E, int T, int V, int D, int W>
constexpr auto operator/(double lhs, Quantity<E, T, V, D, W> rhs) {
  return makeQuantity<-E, -T, -V, -D, -W>(lhs / rhs.value());
}

constexpr Joules picojoules(double value) { return Joules(value * 1e-12); }
constexpr JoulesPerByte picojoulesPerByte(double value) { return JoulesPerByte(value * 1e-12); }
constexpr JoulesPerFlop picojoulesPerFlop(double value) { return JoulesPerFlop(value * 1e-12); }
constexpr Seconds microseconds(double value) { return Seconds(value * 1e-6); }
constexpr Hertz megahertz(double value) { return Hertz(value * 1e6); }

} // namespace joule
