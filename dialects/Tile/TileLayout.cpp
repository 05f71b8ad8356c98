// The algebra of layouts: linear maps over bits.
#include "dialects/Tile/TileDialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace joule::tile;

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> bits,
                                 ArrayRef<int64_t> bases) {
  int64_t total = 0;
  for (int64_t count : bits) {
    if (count < 0 || count > 30)
      return emitError() << "a dimension has 0 to 30 bits, not " << count;
    total += count;
  }
  if (total != static_cast<int64_t>(bases.size()) || total > 30) // C1
    return emitError() << "has " << bases.size() << " bases for " << total << " bits";
  // C2: elimination leaves a base for every address bit.
  SmallVector<int64_t> rest(bases);
  for (int64_t bit = 0; bit < total; ++bit) {
    auto *pivot = llvm::find_if(rest, [&](int64_t base) { return (base >> bit) & 1; });
    if (pivot == rest.end())
      return emitError() << "gives different elements one address";
    int64_t base = *pivot;
    rest.erase(pivot);
    for (int64_t &other : rest)
      if ((other >> bit) & 1)
        other ^= base;
  }
  for (int64_t base : bases)
    if (base < 0 || base >> total)
      return emitError() << "has the base " << base << " outside of a tile of " << (int64_t(1) << total)
                         << " elements";
  return success();
}

LayoutAttr LayoutAttr::rowMajor(MLIRContext *context, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> bits = llvm::map_to_vector(shape, [](int64_t size) {
    assert(llvm::isPowerOf2_64(size));
    return static_cast<int64_t>(llvm::Log2_64(size));
  });
  int64_t above = 0;
  SmallVector<int64_t> bases;
  for (int64_t count : bits)
    above += count;
  for (int64_t count : bits) {
    above -= count;
    for (int64_t bit = 0; bit < count; ++bit)
      bases.push_back(int64_t(1) << (above + bit));
  }
  return get(context, bits, bases);
}

ArrayRef<int64_t> LayoutAttr::basesOf(unsigned dim) const {
  int64_t first = 0;
  for (int64_t count : getBits().take_front(dim))
    first += count;
  return getBases().slice(first, getBits()[dim]);
}

LayoutAttr LayoutAttr::swizzle(unsigned dim, unsigned first, unsigned count, unsigned target) {
  SmallVector<int64_t> bases(getBases());
  int64_t *own = bases.data() + (basesOf(dim).data() - getBases().data());
  for (unsigned bit = 0; bit < count; ++bit)
    own[first + bit] ^= int64_t(1) << (target + bit);
  return get(getContext(), getBits(), bases);
}

int64_t LayoutAttr::apply(ArrayRef<int64_t> coordinates) const {
  int64_t address = 0;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    for (auto [bit, base] : llvm::enumerate(basesOf(dim)))
      if ((coordinate >> bit) & 1)
        address ^= base;
  return address;
}

SmallVector<int64_t> LayoutAttr::invert(int64_t address) const {
  // Rows of bases beside the coordinates they come from; elimination makes each base a single address bit.
  struct Row {
    int64_t base;
    int64_t source;
  };
  SmallVector<Row> rows;
  for (auto [number, base] : llvm::enumerate(getBases()))
    rows.push_back({base, int64_t(1) << number});
  for (unsigned bit = 0; bit < rows.size(); ++bit) {
    unsigned pivot = bit;
    while (!((rows[pivot].base >> bit) & 1))
      ++pivot;
    std::swap(rows[bit], rows[pivot]);
    for (unsigned other = 0; other < rows.size(); ++other)
      if (other != bit && ((rows[other].base >> bit) & 1))
        rows[other] = {rows[other].base ^ rows[bit].base, rows[other].source ^ rows[bit].source};
  }
  int64_t source = 0;
  for (auto [bit, row] : llvm::enumerate(rows))
    if ((address >> bit) & 1)
      source ^= row.source;
  SmallVector<int64_t> coordinates;
  for (int64_t count : getBits()) {
    coordinates.push_back(source & ((int64_t(1) << count) - 1));
    source >>= count;
  }
  return coordinates;
}

bool LayoutAttr::keepsRuns(int64_t count) const {
  if (!llvm::isPowerOf2_64(count) || count > (int64_t(1) << getBits().back()))
    return false;
  ArrayRef<int64_t> last = basesOf(getBits().size() - 1);
  unsigned inRun = llvm::Log2_64(count);
  for (unsigned bit = 0; bit < inRun; ++bit)
    if (last[bit] != int64_t(1) << bit)
      return false;
  // Nothing else reaches into the run.
  return llvm::all_of(getBases(), [&](const int64_t &base) {
    bool ofRun = &base >= last.data() && &base < last.data() + inRun;
    return ofRun || (base & (count - 1)) == 0;
  });
}
