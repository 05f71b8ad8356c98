"""The operations of random programs, and how often each is tried."""

from kernels import branch, loop, nonzero, recurrent, top_k, unique
from layout import broadcast, concat, gather, gather_elements, gather_nd, iota, pad, reshape, scatter_elements, scatter_nd, slice_, transpose
from pointwise import binary_float, binary_integer, bitcast, boolean, cast, comparison, odd_binary_float, select, unary_float, unary_integer
from products import arg_reduce, contract, conv, cumulate, normalize, pool, reduce, resize, softmax

OPERATIONS = {
    unary_float: 10, binary_float: 12, odd_binary_float: 4, binary_integer: 6, unary_integer: 1, boolean: 2, comparison: 3, select: 4,
    cast: 6, bitcast: 1, broadcast: 5, reshape: 5, transpose: 5, slice_: 4, pad: 3, concat: 4, iota: 1, gather: 3, gather_elements: 2,
    gather_nd: 2, scatter_elements: 2, scatter_nd: 2, reduce: 8, arg_reduce: 3, cumulate: 2, softmax: 3, normalize: 3, contract: 10, conv: 5,
    pool: 3, resize: 2, top_k: 2, recurrent: 1, nonzero: 1, unique: 1, branch: 1, loop: 1,
}
