// The contract family: matrix products, tile by tile through shared memory.
//
// A block computes `block[0] x block[1]` elements of the result. Step by step along the depth it brings a
// strip of each operand, `block[2]` deep, into shared memory, from which each thread reads the lines of its
// `thread[0] x thread[1]` elements, held in registers:
//
//                     right: depth x columns
//                    +------------------+
//                    |       ||||       |
//                    +------------------+
//   left:  +----+    +------------------+
//   depth  |    |    |       ....       |
//     x    |----|    |-------####-------|   #: of one thread
//   rows   |    |    |                  |
//          +----+    +------------------+
//
// There are two strips of each: while one is multiplied the next is loaded, first into registers, so that its
// way from memory takes no time of its own. Where there are more threads than tiles of registers, they form
// slices that share each step's depth; their sums are added at the end.
//
// Strips hold lines of one depth next to each other, so that a thread reads several with one access. An
// operand that lies the other way in memory is turned while it is stored, down the columns of the strip; a
// swizzle (see #tile.layout) keeps those stores in different banks.
#include "dialects/Nn/KernelRoot.h"
#include "passes/NnToTile/Families.h"
#include "passes/NnToTile/MatrixOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace joule;
using nn::MatrixProduct;
using Part = MatrixOperand::Part;

namespace {

/// The schedule's numbers by name. All are powers of two.
struct Tiling {
  int64_t threads, rows, columns, depth, threadRows, threadColumns;

  int64_t threadsDown() const { return rows / threadRows; }
  int64_t threadsAcross() const { return columns / threadColumns; }
  int64_t slices() const { return threads / (threadsDown() * threadsAcross()); }

  static FailureOr<Tiling> of(KernelWriter &writer) {
    ArrayRef<int64_t> block = writer.schedule.getBlock(), thread = writer.schedule.getThread();
    auto fail = [&](const char *what) -> LogicalResult {
      return writer.kernel.emitOpError() << "has a schedule whose " << what;
    };
    if (block.size() != 3 || thread.size() != 2)
      return fail("block is not rows, columns and depth, or whose thread is not rows and columns");
    Tiling tiling{writer.schedule.getThreads(), block[0], block[1], block[2], thread[0], thread[1]};
    for (int64_t number : {tiling.threads, block[0], block[1], block[2], thread[0], thread[1]})
      if (number < 1 || !llvm::isPowerOf2_64(number))
        return fail("numbers are not all powers of two");
    if (tiling.threadRows > tiling.rows || tiling.threadColumns > tiling.columns)
      return fail("threads hold more than the block");
    if (tiling.slices() < 1 || tiling.slices() > tiling.depth)
      return fail("threads are fewer than the tiles of registers, or more than the depth can share");
    return tiling;
  }
};

/// The most elements of `type` that one access moves, up to `limit`.
int64_t widthOfAccess(Type type, int64_t limit) {
  return std::min<int64_t>(limit, 128 / std::max(8u, type.getIntOrFloatBitWidth()));
}

/// The sum of an index and a constant that have no bit in common. Said as XOR, which layouts see through.
Value joinBits(nn::ElementBuilder code, Value index, int64_t bits) {
  return code.make<arith::XOrIOp>(index, code.index(bits));
}

/// Brings one operand's strips into shared memory.
class Strip {
public:
  Strip(KernelWriter &writer, MatrixOperand &operand, DepthWalk &walk, const Tiling &tiling, int64_t lines)
      : writer(writer), operand(operand), walk(walk), threads(tiling.threads), lines(lines),
        depth(tiling.depth) {
    width = widthOfAccess(operand.type(), 4);
    turned = operand.isAlongDepth();
    bool wholeLines = !ShapedType::isDynamic(operand.staticLines()) && operand.staticLines() % width == 0 &&
                      operand.staticLines() > 0;
    run = turned                                      ? std::min(width, depth)
          : operand.hasNeighbourLines() && wholeLines ? std::min(width, lines)
                                                      : 1;
    layout = chooseLayout();
    auto type = tile::BufferType::get(writer.builder.getContext(), operand.type(), /*shared=*/true);
    memory = writer.builder.create<tile::AllocOp>(writer.loc, type, 2 * depth * lines);
  }

  /// Computes what does not change along the depth. The block's lines start at `first`.
  void prepare(Value thread, Value batch, Value first) {
    nn::ElementBuilder code = writer.code();
    // A thread moves runs `thread`, `thread + threads`, …; runs across the strip are counted first.
    int64_t across = (turned ? depth : lines) / run, all = depth * lines / run;
    idle = all < threads ? code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, thread, code.index(all))
                         : Value();
    Value inRow = code.mul(code.rem(thread, code.index(std::min(across, threads))), run);
    Value row = across < threads ? code.div(thread, code.index(across)) : code.index(0);
    firstDepth = turned ? inRow : row;
    SmallVector<Value> inRows;
    for (int64_t further = 0; further < std::max(across, threads); further += threads)
      inRows.push_back(join(inRow, further * run));
    for (int64_t start = 0; start < std::max(all, threads); start += threads) {
      int64_t further = start / across;
      // Runs along the depth that exceed it do not occur: a strip is far less deep than there are threads.
      assert(!turned || inRows.size() == 1);
      Piece piece{
          turned ? 0 : further, turned ? join(row, further) : inRows[start / threads % inRows.size()], {}, 0};
      pieces.push_back(piece);
    }
    for (Piece &piece : pieces)
      addLines(piece, batch, code.add(first, piece.at));
  }

  /// The elements of a step, in registers.
  SmallVector<Value> load(Value step) {
    elements.clear();
    insideOf.clear();
    depths.clear();
    for (Piece &piece : pieces)
      for (int64_t number = 0; number < run; ++number)
        addElement(piece, step, number);
    return read();
  }

  void store(ArrayRef<Value> values, Value stage) {
    nn::ElementBuilder code = writer.code();
    auto write = [&] {
      for (auto [number, piece] : llvm::enumerate(pieces)) {
        ArrayRef<Value> own = values.slice(number * run, run);
        if (!turned)
          writer.builder.create<tile::StoreTileOp>(
              writer.loc, own, memory, ValueRange{stage, join(firstDepth, piece.further), piece.at}, layout);
        for (int64_t offset = 0; turned && offset < run; ++offset)
          writer.builder.create<tile::StoreTileOp>(
              writer.loc, own[offset], memory, ValueRange{stage, join(firstDepth, offset), piece.at}, layout);
      }
    };
    if (!idle)
      return write();
    code.choose(
        idle, {}, [&] { return write(), SmallVector<Value>(); }, [] { return SmallVector<Value>(); });
  }

  /// `count` lines at one depth: accesses of up to `width` lines, `apart` lines between their starts.
  SmallVector<Value> readLines(Value stage, Value depth, Value first, int64_t count, int64_t apart) {
    SmallVector<Value> values;
    int64_t perAccess = std::min(count, width);
    for (int64_t done = 0; done < count; done += perAccess) {
      SmallVector<Type> types(perAccess, operand.type());
      Value at = join(first, done / perAccess * apart);
      auto load = writer.builder.create<tile::LoadTileOp>(writer.loc, types, memory,
                                                          ValueRange{stage, depth, at}, layout);
      llvm::append_range(values, load.getResults());
    }
    return values;
  }

  int64_t accessWidth() const { return width; }
  /// How many elements a thread moves per step.
  size_t count() const { return pieces.size() * run; }

private:
  /// `run` elements that a thread moves together: along the depth where the strip is turned, else along the
  /// lines.
  struct Piece {
    /// How far along the depth, from the thread's first element; and which line of the strip.
    int64_t further;
    Value at;
    /// The line, or where runs go along the lines one per element.
    SmallVector<Part> lines;
    /// Pieces with equal lines have equal numbers.
    int64_t lineNumber;
  };

  KernelWriter &writer;
  MatrixOperand &operand;
  DepthWalk &walk;
  int64_t threads, lines, depth, width = 1, run = 1;
  bool turned = false;
  Value memory, idle, firstDepth;
  tile::LayoutAttr layout;
  SmallVector<Piece> pieces;
  /// The elements being loaded: code for each and the condition on which there is something to load.
  struct Element {
    Value condition;
    const Part *line;
    Part depth;
  };
  SmallVector<Element> elements;
  /// By the distance along the depth from the thread's first element; and by line and that, whether inside.
  std::map<int64_t, Part> depths;
  std::map<std::pair<int64_t, int64_t>, Value> insideOf;

  Value join(Value index, int64_t bits) { return joinBits(writer.code(), index, bits); }

  tile::LayoutAttr chooseLayout() {
    MLIRContext *context = writer.builder.getContext();
    auto layout = tile::LayoutAttr::rowMajor(context, {2, depth, lines});
    if (turned && depth > run) {
      // Neighbouring threads hold neighbouring runs of one line. The bits that number the runs go where the
      // bits of the lines that the same threads hold end.
      int64_t banks = 128 / std::max<int64_t>(4, operand.type().getIntOrFloatBitWidth() / 8),
              runs = depth / run;
      int64_t target = std::max(llvm::Log2_64(std::max<int64_t>(1, banks / runs)), llvm::Log2_64(width));
      int64_t count =
          std::min<int64_t>(llvm::Log2_64(runs), std::max<int64_t>(0, llvm::Log2_64(banks) - target));
      if (target + count <= llvm::Log2_64(lines) + llvm::Log2_64(run))
        layout = layout.swizzle(1, llvm::Log2_64(run), count, target);
    }
    return layout;
  }

  void addLines(Piece &piece, Value batch, Value line) {
    nn::ElementBuilder code = writer.code();
    for (const Piece &other : pieces)
      if (&other < &piece && other.at == piece.at) {
        piece.lines = other.lines;
        piece.lineNumber = other.lineNumber;
        return;
      }
    piece.lineNumber = &piece - pieces.data();
    int64_t perPiece = turned ? 1 : run, known = operand.staticLines();
    // Lines beyond the last one repeat it; what comes of them is not stored.
    if (ShapedType::isDynamic(known) || known % lines != 0)
      line = code.make<arith::MinSIOp>(line, code.sub(operand.lines(), perPiece));
    for (int64_t offset = 0; offset < perPiece; ++offset)
      piece.lines.push_back(operand.line(batch, line, offset, perPiece));
  }

  const Part &depthAt(Value step, int64_t further) {
    if (auto known = depths.find(further); known != depths.end())
      return known->second;
    if (further != 0 && walk.movingExtent())
      return depths[further] = operand.deeper(depthAt(step, 0), *walk.movingExtent(), further);
    return depths[further] = operand.depth(walk.at(step, firstDepth, further));
  }

  /// Whether there is an element to load, null if always.
  Value condition(const Piece &piece, const Part &line, Value step, int64_t further) {
    nn::ElementBuilder code = writer.code();
    auto key = std::make_pair(piece.lineNumber, walk.isUniform() ? 0 : further);
    if (!insideOf.count(key))
      insideOf[key] = operand.inside(line, depthAt(step, further));
    Value all = insideOf[key];
    for (Value more : {walk.exists(step, firstDepth, further), idle})
      if (more)
        all = all ? code.both(more, all) : more;
    return all;
  }

  void addElement(const Piece &piece, Value step, int64_t number) {
    int64_t further = piece.further + (turned ? number : 0);
    const Part &line = piece.lines[turned ? 0 : number];
    // Runs along lines are so only where there is no window; those along the depth have one answer if all
    // share it.
    bool asBefore =
        number > 0 && (!turned || walk.isUniform() || (walk.keepsRuns(run) && !operand.hasWindow()));
    Value when = asBefore ? elements.back().condition : condition(piece, line, step, further);
    elements.push_back({when, &line, depthAt(step, further)});
  }

  /// Loads elements of one condition behind one branch.
  SmallVector<Value> read() {
    nn::ElementBuilder code = writer.code();
    SmallVector<Value> values;
    for (size_t first = 0, end; first < elements.size(); first = end) {
      Value condition = elements[first].condition;
      end = first + 1;
      while (end < elements.size() && elements[end].condition == condition)
        ++end;
      auto all = [&] {
        return llvm::map_to_vector(
            ArrayRef<Element>(elements).slice(first, end - first),
            [&](const Element &element) { return operand.element(*element.line, element.depth); });
      };
      auto zeros = [&] { return SmallVector<Value>(end - first, code.number(operand.type(), 0)); };
      SmallVector<Type> types(end - first, operand.type());
      llvm::append_range(values, condition ? code.choose(condition, types, all, zeros) : all());
    }
    return values;
  }
};

/// Writes one kernel.
class TileKernel {
public:
  TileKernel(KernelWriter &writer, const MatrixProduct &product, const Tiling &tiling)
      : writer(writer), code(writer.code()), product(product), tiling(tiling),
        walk(writer, product, tiling.depth), left(writer, product, true), right(writer, product, false),
        result(writer, product), leftStrip(writer, left, walk, tiling, tiling.rows),
        rightStrip(writer, right, walk, tiling, tiling.columns) {}

  void write() {
    findPlace();
    leftStrip.prepare(thread, batch, firstRow);
    rightStrip.prepare(thread, batch, firstColumn);
    SmallVector<Value> sums(tiling.threadRows * tiling.threadColumns, code.number(left.type(), 0));
    finish(addSlices(sumUp(sums)));
  }

private:
  KernelWriter &writer;
  nn::ElementBuilder code;
  const MatrixProduct &product;
  Tiling tiling;
  DepthWalk walk;
  MatrixOperand left, right;
  MatrixResult result;
  Strip leftStrip, rightStrip;
  Value thread, batch, firstRow, firstColumn;
  /// Of this thread: its slice, and its first row and column within the block.
  Value slice, down, across;

  void findPlace() {
    thread = writer.threadId();
    Value columnBlocks = runsOf(code, right.lines(), tiling.columns);
    Value rowBlocks = runsOf(code, left.lines(), tiling.rows);
    Value rest = writer.blockId();
    Value columnBlock = code.rem(rest, columnBlocks);
    rest = code.div(rest, columnBlocks);
    bool batched = product.staticBatches() != 1;
    Value rowBlock = batched ? code.rem(rest, rowBlocks) : rest;
    batch = batched ? code.div(rest, rowBlocks) : code.index(0);
    firstRow = code.mul(rowBlock, tiling.rows);
    firstColumn = code.mul(columnBlock, tiling.columns);
    Value lane = thread;
    if (tiling.slices() == 1) {
      slice = code.index(0);
    } else {
      int64_t perSlice = tiling.threadsDown() * tiling.threadsAcross();
      slice = code.div(thread, code.index(perSlice));
      lane = code.rem(thread, code.index(perSlice));
    }
    down = code.mul(code.div(lane, code.index(tiling.threadsAcross())), rowsTogether());
    across = code.mul(code.rem(lane, code.index(tiling.threadsAcross())), columnsTogether());
  }

  /// A thread's rows and columns come in groups this long, a block's threads apart.
  int64_t rowsTogether() { return std::min(tiling.threadRows, leftStrip.accessWidth()); }
  int64_t columnsTogether() { return std::min(tiling.threadColumns, rightStrip.accessWidth()); }
  int64_t rowAt(int64_t number) {
    return number / rowsTogether() * rowsTogether() * tiling.threadsDown() + number % rowsTogether();
  }
  int64_t columnAt(int64_t number) {
    return number / columnsTogether() * columnsTogether() * tiling.threadsAcross() +
           number % columnsTogether();
  }

  void barrier() { writer.builder.create<gpu::BarrierOp>(writer.loc); }

  SmallVector<Value> sumUp(SmallVector<Value> sums) {
    Value steps = walk.steps();
    if (matchPattern(steps, m_One())) {
      fill(code.index(0), code.index(0));
      barrier();
      return multiply(code.index(0), sums);
    }
    // Without any depth there is nothing to load, and the loop does not run.
    auto isAny = code.make<arith::CmpIOp>(arith::CmpIPredicate::ne, steps, code.index(0));
    code.choose(
        isAny, {}, [&] { return fill(code.index(0), code.index(0)), SmallVector<Value>(); },
        [] { return SmallVector<Value>(); });
    barrier();
    return code.loops(steps, sums, [&](ValueRange at, ValueRange sums) {
      Value step = at.front(), next = code.add(step, 1);
      Value stage = code.make<arith::AndIOp>(step, code.index(1));
      SmallVector<Type> types;
      SmallVector<Value> loaded;
      auto load = [&] {
        SmallVector<Value> values = leftStrip.load(next);
        llvm::append_range(values, rightStrip.load(next));
        return values;
      };
      auto nothing = [&] {
        return llvm::map_to_vector(types, [&](Type type) { return code.number(type, 0); });
      };
      types.assign(leftElements() + rightElements(), left.type());
      Value isMore = code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, next, steps);
      loaded = code.choose(isMore, types, load, nothing);
      SmallVector<Value> added = multiply(stage, SmallVector<Value>(sums));
      Value other = code.make<arith::XOrIOp>(stage, code.index(1));
      leftStrip.store(ArrayRef<Value>(loaded).take_front(leftElements()), other);
      rightStrip.store(ArrayRef<Value>(loaded).drop_front(leftElements()), other);
      barrier();
      return added;
    });
  }

  size_t leftElements() { return leftStrip.count(); }
  size_t rightElements() { return rightStrip.count(); }

  void fill(Value step, Value stage) {
    SmallVector<Value> leftValues = leftStrip.load(step), rightValues = rightStrip.load(step);
    leftStrip.store(leftValues, stage);
    rightStrip.store(rightValues, stage);
  }

  /// Adds the products of this thread's part of a strip.
  SmallVector<Value> multiply(Value stage, SmallVector<Value> sums) {
    int64_t deep = tiling.depth / tiling.slices();
    for (int64_t number = 0; number < deep; ++number) {
      Value depth = joinBits(code, code.mul(slice, deep), number);
      SmallVector<Value> rows =
          leftStrip.readLines(stage, depth, down, tiling.threadRows, rowsTogether() * tiling.threadsDown());
      SmallVector<Value> columns = rightStrip.readLines(stage, depth, across, tiling.threadColumns,
                                                        columnsTogether() * tiling.threadsAcross());
      for (auto [rowNumber, row] : llvm::enumerate(rows))
        for (auto [columnNumber, column] : llvm::enumerate(columns)) {
          Value &sum = sums[rowNumber * tiling.threadColumns + columnNumber];
          sum = addProduct(row, column, sum);
        }
    }
    return sums;
  }

  Value addProduct(Value row, Value column, Value sum) {
    if (isa<FloatType>(sum.getType()))
      return code.make<math::FmaOp>(row, column, sum);
    return code.add(sum, code.mul(row, column));
  }

  /// Adds the sums of all slices, in order, into those of the first one.
  SmallVector<Value> addSlices(SmallVector<Value> sums) {
    int64_t slices = tiling.slices(), perSlice = tiling.threads / slices;
    if (slices == 1)
      return sums;
    Value lane = code.rem(thread, code.index(perSlice));
    // Some sums at a time, since shared memory is short.
    const int64_t mostBytes = 12 * 1024;
    int64_t bytes = (slices - 1) * perSlice * left.type().getIntOrFloatBitWidth() / 8;
    int64_t perRound = std::clamp<int64_t>(mostBytes / bytes, 1, sums.size());
    auto type = tile::BufferType::get(writer.builder.getContext(), left.type(), /*shared=*/true);
    Value memory = writer.builder.create<tile::AllocOp>(writer.loc, type, (slices - 1) * perRound * perSlice);
    for (size_t first = 0; first < sums.size(); first += perRound) {
      if (first != 0)
        barrier();
      addSome(MutableArrayRef<Value>(sums).slice(first, std::min<size_t>(perRound, sums.size() - first)),
              memory, lane);
    }
    return sums;
  }

  void addSome(MutableArrayRef<Value> sums, Value memory, Value lane) {
    Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, slice, code.index(0));
    int64_t perSlice = tiling.threads / tiling.slices(), count = sums.size();
    auto place = [&](Value slice, int64_t number) {
      return code.add(code.add(code.mul(slice, count * perSlice), lane), number * perSlice);
    };
    auto nothing = [] { return SmallVector<Value>(); };
    code.choose(isFirst, {}, nothing, [&]() -> SmallVector<Value> {
      for (auto [number, sum] : llvm::enumerate(sums))
        writer.builder.create<tile::StoreOp>(writer.loc, sum, memory, place(code.sub(slice, 1), number));
      return {};
    });
    barrier();
    for (int64_t other = 0; other < tiling.slices() - 1; ++other)
      for (auto [number, sum] : llvm::enumerate(sums)) {
        Value part = writer.builder.create<tile::LoadOp>(writer.loc, left.type(), memory,
                                                         place(code.index(other), number));
        sum = code.combine(nn::Combiner::Sum, sum, part);
      }
  }

  /// Whether all blocks are full along lines of which there are `known`.
  static bool isExact(int64_t known, int64_t block) {
    return !ShapedType::isDynamic(known) && known % block == 0;
  }

  /// Computes what follows the product and stores it. Elements beyond the last row or column are computed for
  /// the last one instead and not stored.
  void finish(SmallVector<Value> sums) {
    if (tiling.slices() > 1) {
      Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, slice, code.index(0));
      code.choose(
          isFirst, {}, [&] { return finishOwn(sums), SmallVector<Value>(); },
          [] { return SmallVector<Value>(); });
      return;
    }
    finishOwn(sums);
  }

  void finishOwn(ArrayRef<Value> sums) {
    Part batchPart = result.batch(batch);
    for (int64_t number = 0; number < tiling.threadRows; ++number) {
      Place row = place(code.add(code.add(firstRow, down), rowAt(number)), left, tiling.rows, 1);
      Part rowPart = result.row(row.at);
      for (int64_t first = 0; first < tiling.threadColumns; first += columnsTogether())
        finishRun(batchPart, rowPart, row.exists, first, sums.slice(number * tiling.threadColumns + first));
    }
  }

  struct Place {
    Value at, exists;
  };

  /// The start of `run` lines, brought into range, and whether they exist (null if always).
  Place place(Value line, MatrixOperand &operand, int64_t block, int64_t run) {
    if (isExact(operand.staticLines(), block))
      return {line, Value()};
    Value exists = code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, line, operand.lines());
    return {code.make<arith::MinSIOp>(line, code.sub(operand.lines(), run)), exists};
  }

  /// Columns `first` and following of this thread's, which lie together.
  void finishRun(const Part &batchPart, const Part &rowPart, Value rowExists, int64_t first,
                 ArrayRef<Value> sums) {
    int64_t together = columnsTogether(), run = isExact(right.staticLines(), together) ? together : 1;
    for (int64_t start = 0; start < together; start += run) {
      Place column =
          place(code.add(code.add(firstColumn, across), columnAt(first + start)), right, tiling.columns, run);
      SmallVector<Part> columnParts;
      for (int64_t offset = 0; offset < run; ++offset)
        columnParts.push_back(result.column(column.at, offset, run));
      // All loads before all stores, so that accesses of neighbours can become one.
      SmallVector<SmallVector<Value>> values;
      for (auto [offset, columnPart] : llvm::enumerate(columnParts))
        values.push_back(result.finish({&batchPart, &rowPart, &columnPart}, sums[start + offset]));
      auto store = [&]() -> SmallVector<Value> {
        for (auto [offset, columnPart] : llvm::enumerate(columnParts))
          result.store({&batchPart, &rowPart, &columnPart}, values[offset]);
        return {};
      };
      Value exists = rowExists && column.exists ? code.both(rowExists, column.exists)
                     : rowExists                ? rowExists
                                                : column.exists;
      if (exists)
        code.choose(exists, {}, store, [] { return SmallVector<Value>(); });
      else
        store();
    }
  }
};

} // namespace

static std::optional<MatrixProduct> findProduct(Value result) {
  Operation *root = nn::findKernelRoot(*result.getParentBlock());
  return root ? MatrixProduct::of(root) : std::nullopt;
}

LogicalResult joule::emitContract(KernelWriter &writer) {
  std::optional<MatrixProduct> product = findProduct(writer.results.front());
  FailureOr<Tiling> tiling = Tiling::of(writer);
  if (failed(tiling))
    return failure();
  TileKernel(writer, *product, *tiling).write();
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfContract(GridWriter &writer) {
  std::optional<MatrixProduct> found = findProduct(writer.results.front());
  if (!found)
    return writer.kernel.emitOpError()
           << "has a schedule for a matrix product but holds none that its results follow element by element";
  ArrayRef<int64_t> block = writer.schedule.getBlock();
  if (block.size() != 3 || block[0] < 1 || block[1] < 1)
    return writer.kernel.emitOpError() << "has a schedule whose block is not rows, columns and depth";
  const MatrixProduct &product = *found;
  auto blocks = [&](ArrayRef<nn::Extent> extents, int64_t size) {
    return writer.builder.createOrFold<arith::CeilDivUIOp>(writer.loc, countOnHost(writer, extents),
                                                           writer.index(size));
  };
  auto times = [&](Value a, Value b) { return writer.builder.createOrFold<arith::MulIOp>(writer.loc, a, b); };
  Value batches = times(countOnHost(writer, product.batches), writer.index(product.groups));
  Value all = times(batches, times(blocks(product.rows, block[0]), blocks(product.columns, block[1])));
  return std::array<Value, 3>{all, writer.index(1), writer.index(1)};
}
