// Reads, prints and checks what a device file states.
#include "dialects/Device/DeviceDialect.h"

#include "dialects/Device/Quantities.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Device/DeviceDialect.cpp.inc"

#include "dialects/Device/DeviceEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Device/DeviceAttributes.cpp.inc"

namespace joule::device {

void DeviceDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Device/DeviceAttributes.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

//===- Facts and curves
//----------------------------------------------------------------------------------------------

namespace {

/// What a fact and a curve end in: unit, kind, uncertainty, source.
struct Origin {
  std::string unit, source;
  FactKind kind = FactKind::Estimate;
  double uncertainty = 0;
};

} // namespace

static ParseResult parseOrigin(AsmParser &parser, Origin &origin) {
  StringRef keyword;
  llvm::SMLoc loc;
  if (parser.parseComma() || parser.parseString(&origin.unit) || parser.parseComma() ||
      parser.getCurrentLocation(&loc) || parser.parseKeyword(&keyword))
    return failure();
  std::optional<FactKind> kind = symbolizeFactKind(keyword);
  if (!kind)
    return parser.emitError(loc) << "a number is spec, measured, fit or estimate, not '" << keyword << "'";
  origin.kind = *kind;
  return failure(parser.parseComma() || parser.parseKeyword("within") ||
                 parser.parseFloat(origin.uncertainty) || parser.parseComma() ||
                 parser.parseString(&origin.source) || parser.parseGreater());
}

// The shortest digits that read back as the same number.
static void printNumber(AsmPrinter &printer, double value) { printer.printFloat(APFloat(value)); }
static double numberOf(const APFloat &value) { return value.convertToDouble(); }

static void printOrigin(AsmPrinter &printer, StringRef unit, FactKind kind, double uncertainty,
                        StringRef source) {
  printer << ", ";
  printer.printString(unit);
  printer << ", " << stringifyFactKind(kind) << ", within ";
  printNumber(printer, uncertainty);
  printer << ", ";
  printer.printString(source);
  printer << ">";
}

static LogicalResult verifyOrigin(EmitError emitError, double uncertainty, StringRef source) {
  if (!(uncertainty >= 0 && uncertainty <= 2))
    return emitError() << "an uncertainty is a share between 0 and 2, not " << uncertainty;
  if (source.empty())
    return emitError() << "a number without a source";
  return success();
}

Attribute FactAttr::parse(AsmParser &parser, Type) {
  double value = 0;
  Origin origin;
  if (parser.parseLess() || parser.parseFloat(value) || parseOrigin(parser, origin))
    return {};
  return parser.getChecked<FactAttr>(parser.getContext(), APFloat(value), origin.unit, origin.kind,
                                     APFloat(origin.uncertainty), origin.source);
}

void FactAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printNumber(printer, numberOf(getValue()));
  printOrigin(printer, getUnit(), getKind(), numberOf(getUncertainty()), getSource());
}

LogicalResult FactAttr::verify(EmitError emitError, APFloat, StringRef, FactKind, APFloat uncertainty,
                               StringRef source) {
  return verifyOrigin(emitError, numberOf(uncertainty), source); // C1
}

static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<double> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseFloat(numbers.emplace_back()); });
}

static void printNumbers(AsmPrinter &printer, ArrayRef<double> numbers) {
  printer << "[";
  llvm::interleave(
      numbers, [&](double number) { printNumber(printer, number); }, [&] { printer << ", "; });
  printer << "]";
}

Attribute CurveAttr::parse(AsmParser &parser, Type) {
  SmallVector<double> clocks, values;
  Origin origin;
  if (parser.parseLess() || parseNumbers(parser, clocks) || parser.parseComma() ||
      parseNumbers(parser, values) || parseOrigin(parser, origin))
    return {};
  MLIRContext *context = parser.getContext();
  return parser.getChecked<CurveAttr>(context, DenseF64ArrayAttr::get(context, clocks),
                                      DenseF64ArrayAttr::get(context, values), origin.unit, origin.kind,
                                      APFloat(origin.uncertainty), origin.source);
}

void CurveAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printNumbers(printer, getClocks());
  printer << ", ";
  printNumbers(printer, getValues());
  printOrigin(printer, getUnit(), getKind(), numberOf(getUncertainty()), getSource());
}

LogicalResult CurveAttr::verify(EmitError emitError, DenseF64ArrayAttr clocks, DenseF64ArrayAttr values,
                                StringRef, FactKind, APFloat uncertainty, StringRef source) {
  if (clocks.empty() || clocks.size() != values.size())
    return emitError() << "a curve with " << clocks.size() << " clocks and " << values.size()
                       << " values"; // C2
  for (int64_t i = 1; i < clocks.size(); ++i)
    if (clocks[i] <= clocks[i - 1])
      return emitError() << "a curve whose clocks fall from " << clocks[i - 1] << " to " << clocks[i]; // C2
  return verifyOrigin(emitError, numberOf(uncertainty), source);                                       // C1
}

//===- Devices
//-------------------------------------------------------------------------------------------------------

static StringRef toRef(std::string_view text) { return {text.data(), text.size()}; }

static LogicalResult verifyRange(EmitError emitError, const Quantity &quantity, ArrayRef<double> values,
                                 StringRef unit) {
  if (unit != toRef(quantity.unit))
    return emitError() << toRef(quantity.name) << " is given in '" << unit << "', not in '"
                       << toRef(quantity.unit) << "'";
  for (double value : values)
    if (!(value >= quantity.lowest && value <= quantity.highest))
      return emitError() << toRef(quantity.name) << " is " << value << " " << unit << ", outside "
                         << quantity.lowest << " to " << quantity.highest;
  return success();
}

static LogicalResult verifyEntry(EmitError emitError, const Quantity &quantity, Attribute value) {
  if (auto curve = dyn_cast<CurveAttr>(value); curve && quantity.isCurve) {
    if (mustRise(quantity) && !llvm::is_sorted(curve.getValues().asArrayRef()))
      return emitError() << toRef(quantity.name) << " falls where the clock rises";
    return verifyRange(emitError, quantity, curve.getValues().asArrayRef(), curve.getUnit());
  }
  if (auto fact = dyn_cast<FactAttr>(value); fact && !quantity.isCurve)
    return verifyRange(emitError, quantity, numberOf(fact.getValue()), fact.getUnit());
  return emitError() << toRef(quantity.name) << " is no #device." << (quantity.isCurve ? "curve" : "fact");
}

template <size_t count>
static LogicalResult verifyFacts(EmitError emitError, DictionaryAttr facts, const Quantity (&table)[count]) {
  for (NamedAttribute entry : facts) {
    const Quantity *quantity = findQuantity(table, entry.getName().strref());
    if (!quantity)
      return emitError() << "no quantity is called '" << entry.getName().strref() << "'"; // C1
    if (failed(verifyEntry(emitError, *quantity, entry.getValue())))
      return failure(); // C1
  }
  for (const Quantity &quantity : table)
    if (quantity.isRequired && !facts.contains(toRef(quantity.name)))
      return emitError() << "a device without " << toRef(quantity.name); // C2
  return success();
}

LogicalResult GpuAttr::verify(EmitError emitError, StringRef, DictionaryAttr facts) {
  if (failed(verifyFacts(emitError, facts, gpuQuantities)))
    return failure();
  for (const Order &order : gpuOrders) {
    auto lower = facts.getAs<FactAttr>(toRef(order.lower)), upper = facts.getAs<FactAttr>(toRef(order.upper));
    if (lower && upper && numberOf(lower.getValue()) > numberOf(upper.getValue()))
      return emitError() << toRef(order.message); // C3
  }
  return success();
}

LogicalResult EnergyAttr::verify(EmitError emitError, StringRef, DictionaryAttr facts) {
  return verifyFacts(emitError, facts, energyQuantities);
}

} // namespace joule::device
