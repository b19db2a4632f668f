/* From n-gram hashes to band keys, a bitmap and a hash of the whole. */
#ifndef CLAIMLAB_SKETCH_H
#define CLAIMLAB_SKETCH_H

#include "_grams.h"

typedef struct {
    const uint64_t *salt; /* ROUNDS + bins pairs: a mask and an odd multiplier */
    Py_ssize_t bands, rows, bins;
    Py_ssize_t lanes; /* 64-bit words of a bitmap */
    Py_ssize_t total; /* distance between two bands in `keys` */
    uint32_t *keys;
    uint64_t *bits;
    uint64_t *hashes;
    uint32_t *counts;
} Plan;

/* The minimum of each bin under one hash, whose two halves throw the gram into two bins; a bin that none falls into
 * keeps NONE. */
static void throw_round(const uint64_t *gram, size_t count, uint64_t mask, uint64_t factor, uint64_t bins,
                        uint32_t *slot) {
    memset(slot, 0xFF, bins * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        uint64_t x = (gram[i] ^ mask) * factor;
        uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x;
        uint32_t *one = slot + ((high * bins) >> 32);
        *one = high < *one ? high : *one;
        uint32_t *two = slot + ((low * bins) >> 32);
        *two = low < *two ? low : *two;
    }
}

/* One minimum a bin. Each round throws every gram into two bins; a bin keeps the minimum of the first round that
 * reaches it, so a bin agrees between two texts with probability J, however short they are. What is still empty after
 * the last round takes the minimum over all grams under a hash of its own. */
static void fill_bins(const uint64_t *gram, size_t count, const Plan *plan, uint32_t *slot, uint32_t *spare) {
    const size_t bins = (size_t)plan->bins;
    const uint64_t *salt = plan->salt;
    throw_round(gram, count, salt[0], salt[1], bins, slot);
    uint32_t empty = 0;
    for (size_t b = 0; b < bins; b++) empty += slot[b] == NONE;
    for (size_t round = 1; round < ROUNDS && empty > 0; round++) {
        throw_round(gram, count, salt[2 * round], salt[2 * round + 1], bins, spare);
        empty = 0;
        for (size_t b = 0; b < bins; b++) {
            slot[b] = slot[b] == NONE ? spare[b] : slot[b];
            empty += slot[b] == NONE;
        }
    }
    for (size_t b = 0; b < bins && empty > 0; b++) {
        if (slot[b] != NONE) continue;
        uint64_t mask = salt[2 * (ROUNDS + b)], factor = salt[2 * (ROUNDS + b) + 1];
        for (size_t i = 0; i < count; i++) {
            uint32_t x = (uint32_t)(((gram[i] ^ mask) * factor) >> 32);
            if (x < slot[b]) slot[b] = x;
        }
    }
}

static void write_sketch(Py_ssize_t at, const uint64_t *gram, size_t count, const Plan *plan, uint32_t *slot,
                         uint32_t *spare) {
    uint64_t *bits = plan->bits + (size_t)at * (size_t)plan->lanes;
    const uint64_t within = (uint64_t)plan->lanes * 64 - 1;
    uint64_t whole1 = 0, whole2 = 0;
    memset(bits, 0, (size_t)plan->lanes * sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        uint64_t g = gram[i], bit = g & within;
        bits[bit >> 6] |= 1ull << (bit & 63);
        whole1 += g * (2 * i + 1); /* odd factors: the order counts too */
        whole2 += ((g << 32) | (g >> 32)) * (2 * i + 1);
    }
    plan->hashes[2 * at] = whole1;
    plan->hashes[2 * at + 1] = whole2;
    plan->counts[at] = (uint32_t)count;
    if (count == 0) {
        for (Py_ssize_t b = 0; b < plan->bands; b++) plan->keys[b * plan->total + at] = 0;
        return;
    }
    fill_bins(gram, count, plan, slot, spare);
    for (Py_ssize_t b = 0; b < plan->bands; b++) {
        uint64_t key = (uint64_t)b;
        for (Py_ssize_t r = 0; r < plan->rows; r++) {
            key = (key ^ slot[b * plan->rows + r]) * BASE;
            key ^= key >> 32;
        }
        plan->keys[b * plan->total + at] = (uint32_t)(mix(key) >> 32);
    }
}

PyDoc_STRVAR(sketch_doc,
             "sketch(texts, start, stop, folded, table, extra, ngram, word, salt, bands, rows, lanes, keys, bits, "
             "hashes, counts): fill the last four for texts[start:stop].");

static PyObject *sketch(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *list, *result = NULL;
    Py_ssize_t start, stop;
    Rules rules;
    Plan plan;
    Room room = {0};
    Text *texts = NULL;
    uint32_t *slot = NULL, *spare = NULL;
    int failed = 0;
    Py_buffer folded, table, extra, salt, keys, bits, hashes, counts;
    if (!PyArg_ParseTuple(args, "O!nny*y*y*npy*nnnw*w*w*w*", &PyList_Type, &list, &start, &stop, &folded, &table, &extra,
                          &rules.n, &rules.word, &salt, &plan.bands, &plan.rows, &plan.lanes, &keys, &bits, &hashes,
                          &counts))
        return NULL;
    Py_ssize_t total = PyList_GET_SIZE(list);
    if (rules.n < 1 || plan.bands < 1 || plan.rows < 1 || plan.bands > 65536 || plan.rows > 65536 || plan.lanes < 1 ||
        plan.lanes > 65536 || (plan.lanes & (plan.lanes - 1)) != 0) {
        PyErr_SetString(PyExc_ValueError, "ngram, bands, rows and lanes must be positive, lanes a power of two");
        goto done;
    }
    plan.bins = plan.bands * plan.rows;
    if (total > (Py_ssize_t)(PY_SSIZE_T_MAX / 65536 / 8)) {
        PyErr_SetString(PyExc_ValueError, "too many texts");
        goto done;
    }
    if (!range_fits(list, start, stop) || !buffer_fits(&folded, total, 1, "folded") ||
        !buffer_fits(&table, TABLE_SIZE, 4, "table") || !buffer_fits(&extra, extra.len / 4, 4, "extra") ||
        !buffer_fits(&salt, 2 * (ROUNDS + plan.bins), 8, "salt") ||
        !buffer_fits(&keys, plan.bands * total, 4, "keys") || !buffer_fits(&bits, plan.lanes * total, 8, "bits") ||
        !buffer_fits(&hashes, 2 * total, 8, "hashes") || !buffer_fits(&counts, total, 4, "counts"))
        goto done;
    rules.table = table.buf;
    rules.extra = extra.buf;
    rules.extra_len = extra.len / 4;
    plan.salt = salt.buf;
    plan.total = total;
    plan.keys = keys.buf;
    plan.bits = bits.buf;
    plan.hashes = hashes.buf;
    plan.counts = counts.buf;
    texts = texts_take(list, start, stop);
    if (texts == NULL) goto done;
    slot = PyMem_Calloc((size_t)plan.bins, sizeof(uint32_t));
    spare = PyMem_Calloc((size_t)plan.bins, sizeof(uint32_t));
    if (slot == NULL || spare == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = start; i < stop && !failed; i++) {
        Py_ssize_t count = grams(&texts[i - start], ((const uint8_t *)folded.buf)[i], &rules, &room);
        if (count < 0 || (uint64_t)count > UINT32_MAX)
            failed = 1;
        else
            write_sketch(i, room.gram, (size_t)count, &plan, slot, spare);
    }
    Py_END_ALLOW_THREADS
    if (failed)
        PyErr_NoMemory();
    else
        result = Py_NewRef(Py_None);
done:
    texts_drop(texts, stop - start);
    room_free(&room);
    PyMem_Free(slot);
    PyMem_Free(spare);
    PyBuffer_Release(&folded);
    PyBuffer_Release(&table);
    PyBuffer_Release(&extra);
    PyBuffer_Release(&salt);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&bits);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&counts);
    return result;
}

#endif
