/* From candidate pairs to exact sizes of intersection and union. */
#ifndef CLAIMLAB_VERIFY_H
#define CLAIMLAB_VERIFY_H

#include "_grams.h"

/* An open hash set that holds the grams of one left text while its partners pass by. mark: 0 free; odd: of the left
 * text, last met in round mark / 2; 2: only of the partner that is passing. */
typedef struct {
    uint64_t *key;
    uint32_t *mark;
    size_t cap; /* a power of two */
    size_t *fresh;
    size_t fresh_cap;
    size_t size; /* distinct grams of the left text */
} Set;

static void set_free(Set *set) {
    free(set->key);
    free(set->mark);
    free(set->fresh);
}

static inline size_t set_find(const Set *set, uint64_t gram) {
    size_t at = (size_t)(gram >> 20) & (set->cap - 1);
    while (set->mark[at] != 0 && set->key[at] != gram) at = (at + 1) & (set->cap - 1);
    return at;
}

/* Room for `expected` grams at half load, holding the grams given and nothing else. */
static int set_fill(Set *set, size_t expected, const uint64_t *gram, size_t count) {
    size_t cap = 256;
    while (cap < 2 * expected) {
        if (cap > SIZE_MAX / 32) return -1;
        cap *= 2;
    }
    if (cap > set->cap) {
        free(set->key);
        free(set->mark);
        set->key = malloc(cap * sizeof(uint64_t));
        set->mark = malloc(cap * sizeof(uint32_t));
        set->cap = set->key != NULL && set->mark != NULL ? cap : 0;
        if (set->cap == 0) return -1;
    }
    memset(set->mark, 0, set->cap * sizeof(uint32_t));
    set->size = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = set_find(set, gram[i]);
        if (set->mark[at] == 0) {
            set->key[at] = gram[i];
            set->mark[at] = 1;
            set->size++;
        }
    }
    return 0;
}

/* The partner's grams against the set: how many both have, how many only the partner has. The set is as before. */
static int set_meet(Set *set, const uint64_t *gram, size_t count, uint32_t round, size_t *both, size_t *alone) {
    if (grow((void **)&set->fresh, &set->fresh_cap, count, sizeof(size_t)) < 0) return -1;
    size_t met = 0, fresh = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = set_find(set, gram[i]);
        uint32_t mark = set->mark[at];
        if (mark == 0) {
            set->key[at] = gram[i];
            set->mark[at] = 2;
            set->fresh[fresh++] = at;
        } else if ((mark & 1) && (mark >> 1) != round) {
            set->mark[at] = (round << 1) | 1;
            met++;
        }
    }
    for (size_t i = 0; i < fresh; i++) set->mark[set->fresh[i]] = 0;
    *both = met;
    *alone = fresh;
    return 0;
}

typedef struct {
    const Text *texts; /* two a pair */
    const uint64_t *codes;
    const uint8_t *folded;
    uint32_t *both;
    uint32_t *either;
} Work;

static int verify_pairs(const Work *work, Py_ssize_t pairs, const Rules *rules, Room *left, Room *right, Set *set) {
    uint64_t current = UINT64_MAX;
    Py_ssize_t held = 0;
    uint32_t round = 0;
    for (Py_ssize_t p = 0; p < pairs; p++) {
        uint64_t a = work->codes[p] >> 32, b = work->codes[p] & 0xFFFFFFFFull;
        Py_ssize_t count = grams(&work->texts[2 * p + 1], work->folded[b], rules, right);
        if (count < 0) return -1;
        int other = a != current;
        if (other) {
            held = grams(&work->texts[2 * p], work->folded[a], rules, left);
            if (held < 0) return -1;
            current = a;
        }
        /* 2^30 rounds would run out of mark bits: start the set anew long before */
        if (other || 2 * (size_t)(held + count) > set->cap || round > (1u << 29)) {
            if (set_fill(set, (size_t)(held + count), left->gram, (size_t)held) < 0) return -1;
            round = 0;
        }
        size_t both, alone;
        if (set_meet(set, right->gram, (size_t)count, ++round, &both, &alone) < 0) return -1;
        work->both[p] = (uint32_t)both;
        work->either[p] = (uint32_t)(set->size + alone);
    }
    return 0;
}

static Text *texts_of_pairs(PyObject *list, const uint64_t *codes, Py_ssize_t pairs) {
    Text *texts = PyMem_Calloc((size_t)pairs * 2 + 1, sizeof(Text));
    if (texts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < 2 * pairs; i++) {
        uint64_t row = i & 1 ? codes[i / 2] & 0xFFFFFFFFull : codes[i / 2] >> 32;
        if (text_take(list, (Py_ssize_t)row, &texts[i]) < 0) {
            texts_drop(texts, i);
            return NULL;
        }
    }
    return texts;
}

PyDoc_STRVAR(verify_doc,
             "verify(texts, folded, table, extra, ngram, word, codes, both, either): sizes of the intersection and the "
             "union of the gram sets of each pair.");

static PyObject *verify(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *list, *result = NULL;
    Rules rules;
    Room left = {0}, right = {0};
    Set set = {0};
    Text *texts = NULL;
    int failed = 0;
    Py_buffer folded, table, extra, codes, both, either;
    if (!PyArg_ParseTuple(args, "O!y*y*y*npy*w*w*", &PyList_Type, &list, &folded, &table, &extra, &rules.n, &rules.word,
                          &codes, &both, &either))
        return NULL;
    Py_ssize_t pairs = codes.len / 8;
    if (rules.n < 1) {
        PyErr_SetString(PyExc_ValueError, "ngram must be positive");
        goto done;
    }
    if (!buffer_fits(&folded, PyList_GET_SIZE(list), 1, "folded") || !buffer_fits(&table, TABLE_SIZE, 4, "table") ||
        !buffer_fits(&extra, extra.len / 4, 4, "extra") || !buffer_fits(&codes, pairs, 8, "codes") ||
        !buffer_fits(&both, pairs, 4, "both") || !buffer_fits(&either, pairs, 4, "either"))
        goto done;
    rules.table = table.buf;
    rules.extra = extra.buf;
    rules.extra_len = extra.len / 4;
    texts = texts_of_pairs(list, codes.buf, pairs);
    if (texts == NULL) goto done;
    Work work = {texts, codes.buf, folded.buf, both.buf, either.buf};
    Py_BEGIN_ALLOW_THREADS
    failed = verify_pairs(&work, pairs, &rules, &left, &right, &set);
    Py_END_ALLOW_THREADS
    if (failed)
        PyErr_NoMemory();
    else
        result = Py_NewRef(Py_None);
done:
    texts_drop(texts, 2 * pairs);
    room_free(&left);
    room_free(&right);
    set_free(&set);
    PyBuffer_Release(&folded);
    PyBuffer_Release(&table);
    PyBuffer_Release(&extra);
    PyBuffer_Release(&codes);
    PyBuffer_Release(&both);
    PyBuffer_Release(&either);
    return result;
}

#endif
