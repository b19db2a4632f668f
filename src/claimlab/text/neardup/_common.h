/* What every part of the kernel needs. The constants are shared with hashing.py and normal.py. */
#ifndef CLAIMLAB_COMMON_H
#define CLAIMLAB_COMMON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE 0x20000u
#define WORD (1u << 30)
#define ASK (1u << 29)
#define BRIEF (1u << 28)
#define MANY (1u << 31)
#define CODE 0x1FFFFFu
#define UNKNOWN UINT32_MAX /* on a page of the table that is not filled */
#define SPACE 0x20u

/* Shared with fallback.py. */
#define BASE 0x9E3779B97F4A7C15ull  /* of the polynomial over a window */
#define LENGTH 0xC2B2AE3D27D4EB4Full /* tells a short whole text from a window */
#define ROUNDS 16
#define NONE UINT32_MAX /* of a bin: still empty */

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(place) __builtin_prefetch(place)
#define COUNT_ONES(x) __builtin_popcountll(x)
#else
#define PREFETCH(place) ((void)0)
static inline int COUNT_ONES(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    return (int)((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull) >> 56);
}
#endif

static inline uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* Make room for `need` items of `width` bytes; -1 out of memory, with the block as it was. */
static int grow(void **block, size_t *cap, size_t need, size_t width) {
    if (need <= *cap) return 0;
    size_t size = *cap ? *cap : 256;
    while (size < need) {
        if (size > SIZE_MAX / 2) return -1;
        size *= 2;
    }
    if (size > SIZE_MAX / width) return -1;
    void *bigger = realloc(*block, size * width);
    if (bigger == NULL) return -1;
    *block = bigger;
    *cap = size;
    return 0;
}

static int buffer_fits(const Py_buffer *view, Py_ssize_t items, size_t width, const char *name) {
    if (items >= 0 && (size_t)items <= (size_t)PY_SSIZE_T_MAX / width && view->len >= items * (Py_ssize_t)width &&
        ((uintptr_t)view->buf % width) == 0)
        return 1;
    PyErr_Format(PyExc_ValueError, "the buffer '%s' is too small or not aligned", name);
    return 0;
}

static int range_fits(PyObject *list, Py_ssize_t start, Py_ssize_t stop) {
    if (0 <= start && start <= stop && stop <= PyList_GET_SIZE(list)) return 1;
    PyErr_SetString(PyExc_ValueError, "the range lies outside the list");
    return 0;
}

#endif
