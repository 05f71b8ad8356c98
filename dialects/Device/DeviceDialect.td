// The device level: what do we know of the machine?
#ifndef JOULE_DEVICE_DIALECT_TD
#define JOULE_DEVICE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::joule::device";
  let summary = "Facts about a GPU, each with its source";
  let description = [{
    Attributes only. A device file is a module that carries a `#device.gpu` and a `#device.energy`; the names, units
    and ranges of what these hold are listed in `dialects/Device/Quantities.h`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Device_FactKind : I32EnumAttr<"FactKind", "Where a number comes from", [
  I32EnumAttrCase<"Spec", 0, "spec">, I32EnumAttrCase<"Measured", 1, "measured">, I32EnumAttrCase<"Fit", 2, "fit">,
  I32EnumAttrCase<"Estimate", 3, "estimate">]> {
  let cppNamespace = "::joule::device";
}

class Device_Attr<string name, string attrMnemonic> : AttrDef<Device_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Device_FactAttr : Device_Attr<"Fact", "fact"> {
  let summary = "A number with its unit, its source and its uncertainty";
  let description = [{
    `spec` is what the maker publishes, `measured` was read off hardware, `fit` follows from measurements through a
    model, `estimate` is none of these. `within` is the uncertainty as a share of the value (two standard deviations).

    Constraints:
    - (C1) The uncertainty is between 0 and 2, the source is not empty.

    Example: `#device.fact<5.2, "pJ/flop", fit, within 0.06, "roofline runs on 8 boards">`
  }];
  let parameters = (ins APFloatParameter<"">:$value, StringRefParameter<>:$unit, "FactKind":$kind,
                   APFloatParameter<"">:$uncertainty, StringRefParameter<>:$source);
  let hasCustomAssemblyFormat = 1;
}

def Device_CurveAttr : Device_Attr<"Curve", "curve"> {
  let summary = "A quantity over the clock, with its source and its uncertainty";
  let description = [{
    Straight lines between the points, flat outside.

    Constraints:
    - (C1) The uncertainty is between 0 and 2, the source is not empty.
    - (C2) There are as many values as clocks, at least one, and the clocks rise.

    Example: `#device.curve<[210.0, 1410.0], [0.7, 0.9], "V", measured, within 0.01, "one board">`
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$clocks, "::mlir::DenseF64ArrayAttr":$values,
                   StringRefParameter<>:$unit, "FactKind":$kind, APFloatParameter<"">:$uncertainty,
                   StringRefParameter<>:$source);
  let hasCustomAssemblyFormat = 1;
}

def Device_GpuAttr : Device_Attr<"Gpu", "gpu"> {
  let summary = "A GPU's geometry, limits and rates";
  let description = [{
    Constraints:
    - (C1) Each entry is listed in `gpuQuantities`, with the unit and in the range that stand there.
    - (C2) What `gpuQuantities` requires is there.
    - (C3) The lowest clock is not above the highest, nor is any other pair of `gpuOrders` the wrong way round.

    Example: see any file of `lib/Energy/devices`.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::DictionaryAttr":$facts);
  let assemblyFormat = "`<` $name `,` $facts `>`";
}

def Device_EnergyAttr : Device_Attr<"Energy", "energy"> {
  let summary = "What a GPU's work and waiting cost";
  let description = [{
    Energies are those at the reference clock; they scale with the square of the voltage, that of memory excepted.

    Constraints:
    - (C1) Each entry is listed in `energyQuantities`, with the unit and in the range that stand there; the voltage does
      not fall where the clock rises.
    - (C2) What `energyQuantities` requires is there.

    Example: see any file of `lib/Energy/devices`.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::DictionaryAttr":$facts);
  let assemblyFormat = "`<` $name `,` $facts `>`";
}

#endif // JOULE_DEVICE_DIALECT_TD
