/* From rows sorted by band key to candidate pairs. */
#ifndef CLAIMLAB_MATCH_H
#define CLAIMLAB_MATCH_H

#include "_common.h"

typedef struct {
    const uint64_t *bits;
    const uint32_t *counts;
    Py_ssize_t lanes;
    uint64_t total;
    double share;
} Maps;

/* Two bitmaps differ in at most as many bits as the two sets differ in members. J >= t allows a difference of at most
 * share = (1 - t) / (1 + t) times the sum of the sizes, and the counts, repeats included, are never below the sizes:
 * what this drops is below the threshold for certain. */
static inline int may_be_near(const Maps *maps, uint64_t a, uint64_t b) {
    const uint64_t *x = maps->bits + a * (uint64_t)maps->lanes, *y = maps->bits + b * (uint64_t)maps->lanes;
    double most = maps->share * ((double)maps->counts[a] + (double)maps->counts[b]) + 1e-6;
    long differ = 0;
    for (Py_ssize_t k = 0; k < maps->lanes; k++) differ += COUNT_ONES(x[k] ^ y[k]);
    return (double)differ <= most;
}

typedef struct {
    uint64_t *item;
    size_t size, cap;
} List;

static inline int list_add(List *list, uint64_t value) {
    if (list->size == list->cap && grow((void **)&list->item, &list->cap, list->size + 1, sizeof(uint64_t)) < 0) return -1;
    list->item[list->size++] = value;
    return 0;
}

typedef struct {
    const uint64_t *packed; /* key << 32 | row, sorted */
    Py_ssize_t count;
    Py_ssize_t limit;      /* buckets with more members are left to the caller */
    const uint8_t *second; /* by row: of the second list; NULL: there is one list */
} Band;

#define NOT_A_ROW 1
#define NO_MEMORY 2

#define MATCH(NAME, ATTRIBUTE)                                                                              \
    ATTRIBUTE static int NAME(const Band *band, const Maps *maps, List *codes, List *large) {               \
        const uint64_t *packed = band->packed;                                                              \
        Py_ssize_t end;                                                                                     \
        for (Py_ssize_t start = 0; start < band->count; start = end) {                                      \
            for (end = start + 1; end < band->count && packed[end] >> 32 == packed[start] >> 32;) end++;    \
            if (end - start == 1) continue;                                                                 \
            if (end - start > band->limit) {                                                                \
                if (list_add(large, (uint64_t)start) < 0 || list_add(large, (uint64_t)end) < 0) return NO_MEMORY; \
                continue;                                                                                   \
            }                                                                                               \
            for (Py_ssize_t i = start; i < end; i++) {                                                      \
                if ((packed[i] & 0xFFFFFFFFull) >= maps->total) return NOT_A_ROW;                           \
                PREFETCH(maps->bits + (packed[i] & 0xFFFFFFFFull) * (uint64_t)maps->lanes);                 \
            }                                                                                               \
            for (Py_ssize_t i = start; i < end; i++) {                                                      \
                uint64_t a = packed[i] & 0xFFFFFFFFull;                                                     \
                for (Py_ssize_t j = i + 1; j < end; j++) {                                                  \
                    uint64_t b = packed[j] & 0xFFFFFFFFull;                                                 \
                    if (band->second != NULL && band->second[a] == band->second[b]) continue;               \
                    if (may_be_near(maps, a, b) && list_add(codes, a << 32 | b) < 0) return NO_MEMORY;      \
                }                                                                                           \
            }                                                                                               \
        }                                                                                                   \
        return 0;                                                                                           \
    }
#define SIFT(NAME, ATTRIBUTE)                                                                               \
    ATTRIBUTE static int NAME(const uint64_t *codes, Py_ssize_t pairs, const Maps *maps, uint8_t *keep) {   \
        for (Py_ssize_t p = 0; p < pairs; p++) {                                                            \
            uint64_t a = codes[p] >> 32, b = codes[p] & 0xFFFFFFFFull;                                      \
            if (a >= maps->total || b >= maps->total) return NOT_A_ROW;                                     \
            keep[p] = (uint8_t)may_be_near(maps, a, b);                                                     \
        }                                                                                                   \
        return 0;                                                                                           \
    }
MATCH(match_plain, )
SIFT(sift_plain, )
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
/* the wheel is built for the oldest processors: those that can count bits in one step are asked for at run time */
MATCH(match_popcnt, __attribute__((target("popcnt"))))
SIFT(sift_popcnt, __attribute__((target("popcnt"))))
#define HAS_POPCNT() __builtin_cpu_supports("popcnt")
#else
#define match_popcnt match_plain
#define sift_popcnt sift_plain
#define HAS_POPCNT() 0
#endif

static int maps_fit(Maps *maps, const Py_buffer *bits, const Py_buffer *counts) {
    Py_ssize_t total = counts->len / 4;
    if (maps->lanes < 1 || maps->lanes > 65536 || total > PY_SSIZE_T_MAX / 65536 / 8) {
        PyErr_SetString(PyExc_ValueError, "lanes or counts out of range");
        return 0;
    }
    if (!buffer_fits(counts, total, 4, "counts") || !buffer_fits(bits, total * maps->lanes, 8, "bits")) return 0;
    maps->bits = bits->buf;
    maps->counts = counts->buf;
    maps->total = (uint64_t)total;
    return 1;
}

static PyObject *raise_for(int failed) {
    if (failed == NO_MEMORY) return PyErr_NoMemory();
    PyErr_SetString(PyExc_IndexError, "a pair names a text that is not there");
    return NULL;
}

PyDoc_STRVAR(match_doc,
             "match(packed, bits, lanes, counts, share, limit, second): the pairs that share a key, as bytes of "
             "left << 32 | right, and the (start, end) of buckets with more than `limit` members, untouched.");

static PyObject *match(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *result = NULL;
    Maps maps;
    Band band;
    List codes = {0}, large = {0};
    int failed = 0;
    Py_buffer packed, bits, counts, second = {0};
    if (!PyArg_ParseTuple(args, "y*y*ny*dnz*", &packed, &bits, &maps.lanes, &counts, &maps.share, &band.limit, &second))
        return NULL;
    band.packed = packed.buf;
    band.count = packed.len / 8;
    band.second = second.buf;
    if (!maps_fit(&maps, &bits, &counts) || !buffer_fits(&packed, band.count, 8, "packed")) goto done;
    if (second.buf != NULL && !buffer_fits(&second, (Py_ssize_t)maps.total, 1, "second")) goto done;
    Py_BEGIN_ALLOW_THREADS
    failed = (HAS_POPCNT() ? match_popcnt : match_plain)(&band, &maps, &codes, &large);
    Py_END_ALLOW_THREADS
    if (failed)
        raise_for(failed);
    else
        result = Py_BuildValue("(y#y#)", codes.item ? (char *)codes.item : "", (Py_ssize_t)(codes.size * 8),
                               large.item ? (char *)large.item : "", (Py_ssize_t)(large.size * 8));
done:
    free(codes.item);
    free(large.item);
    PyBuffer_Release(&packed);
    PyBuffer_Release(&bits);
    PyBuffer_Release(&counts);
    if (second.obj != NULL) PyBuffer_Release(&second);
    return result;
}

PyDoc_STRVAR(sift_doc, "sift(codes, bits, lanes, counts, share, keep): keep[p] = 0 where the bitmaps rule pair p out.");

static PyObject *sift(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *result = NULL;
    Maps maps;
    int failed = 0;
    Py_buffer codes, bits, counts, keep;
    if (!PyArg_ParseTuple(args, "y*y*ny*dw*", &codes, &bits, &maps.lanes, &counts, &maps.share, &keep)) return NULL;
    Py_ssize_t pairs = codes.len / 8;
    if (!maps_fit(&maps, &bits, &counts) || !buffer_fits(&codes, pairs, 8, "codes") ||
        !buffer_fits(&keep, pairs, 1, "keep"))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    failed = (HAS_POPCNT() ? sift_popcnt : sift_plain)(codes.buf, pairs, &maps, keep.buf);
    Py_END_ALLOW_THREADS
    result = failed ? raise_for(failed) : Py_NewRef(Py_None);
done:
    PyBuffer_Release(&codes);
    PyBuffer_Release(&bits);
    PyBuffer_Release(&counts);
    PyBuffer_Release(&keep);
    return result;
}

#endif
