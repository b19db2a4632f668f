/* The near-duplicate kernel: the inner loops of claimlab.text.neardup, without Python in them.
 *
 *   scan    which texts the folding table cannot normalise (marks that combine)
 *   sketch  text -> n-gram hashes -> band keys, a bitmap for sifting, a hash of the whole, a count
 *   match   texts sorted by band key -> pairs that share a key and whose bitmaps do not prove them too different
 *   sift    the same proof for pairs that are given
 *   verify  exact intersection and union of the n-gram sets of each pair
 *
 * Every function works on a range and releases the GIL; Python starts as many threads as it wants. fallback.py does
 * the same arithmetic with NumPy, and the tests hold the two to identical output: change them together.
 *
 * Strings are read in place through CPython's own layout (1, 2 or 4 bytes a character), so nothing is encoded or
 * copied. References are taken before the GIL is released and given back after.
 */
#include "_common.h"
#include "_grams.h"
#include "_match.h"
#include "_sketch.h"
#include "_verify.h"

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS, scan_doc},
    {"sketch", sketch, METH_VARARGS, sketch_doc},
    {"match", match, METH_VARARGS, match_doc},
    {"sift", sift, METH_VARARGS, sift_doc},
    {"verify", verify, METH_VARARGS, verify_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled loops of claimlab.text.neardup.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module); }
