/* From Python strings to n-gram hashes. */
#ifndef CLAIMLAB_GRAMS_H
#define CLAIMLAB_GRAMS_H

#include "_common.h"

typedef struct {
    PyObject *owner;
    const void *data;
    Py_ssize_t length;
    int kind;
    int ascii;
} Text;

typedef struct {
    const uint32_t *table;
    const uint32_t *extra;
    Py_ssize_t extra_len;
    Py_ssize_t n;
    int word;
} Rules;

/* Buffers that one call owns and every text reuses. */
typedef struct {
    uint32_t *code;
    size_t code_cap;
    uint64_t *gram;
    size_t gram_cap;
    uint64_t *token; /* hashes of words */
    size_t token_cap;
} Room;

static void room_free(Room *room) {
    free(room->code);
    free(room->gram);
    free(room->token);
}

static int text_take(PyObject *list, Py_ssize_t index, Text *text) {
    if (index < 0 || index >= PyList_GET_SIZE(list)) {
        PyErr_Format(PyExc_IndexError, "text %zd is not in the list", index);
        return -1;
    }
    PyObject *item = PyList_GET_ITEM(list, index);
    if (!PyUnicode_Check(item)) {
        PyErr_Format(PyExc_TypeError, "text %zd is %.80s, not str", index, Py_TYPE(item)->tp_name);
        return -1;
    }
    text->owner = Py_NewRef(item);
    text->data = PyUnicode_DATA(item);
    text->length = PyUnicode_GET_LENGTH(item);
    text->kind = (int)PyUnicode_KIND(item);
    text->ascii = PyUnicode_IS_ASCII(item);
    return 0;
}

static void texts_drop(Text *texts, Py_ssize_t count) {
    if (texts == NULL) return;
    for (Py_ssize_t i = 0; i < count; i++) Py_DECREF(texts[i].owner);
    PyMem_Free(texts);
}

/* New references to texts[start:stop]; NULL with an exception set. */
static Text *texts_take(PyObject *list, Py_ssize_t start, Py_ssize_t stop) {
    Text *texts = PyMem_Calloc((size_t)(stop - start) + 1, sizeof(Text));
    if (texts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = start; i < stop; i++) {
        if (text_take(list, i, &texts[i - start]) < 0) {
            texts_drop(texts, i - start);
            return NULL;
        }
    }
    return texts;
}

static inline uint32_t char_at(const Text *text, Py_ssize_t i) {
    switch (text->kind) {
        case 1: return ((const uint8_t *)text->data)[i];
        case 2: return ((const uint16_t *)text->data)[i];
        default: return ((const uint32_t *)text->data)[i];
    }
}

/* The class bits of a character that is already in normal form. */
static inline uint32_t classed(uint32_t c, const uint32_t *table) {
    if (c < TABLE_SIZE) return c | (table[c] & (WORD | BRIEF));
    return c | (c < 0x40000u ? WORD | BRIEF : 0u); /* the further planes of Han; beyond them are selectors and private use */
}

#define FOLD(TYPE)                                                                                        \
    do {                                                                                                  \
        const TYPE *data = (const TYPE *)text->data;                                                      \
        for (Py_ssize_t i = 0; i < text->length; i++) {                                                   \
            uint32_t c = data[i];                                                                         \
            uint32_t e = c < TABLE_SIZE ? rules->table[c] : classed(c, rules->table);                     \
            if (e & MANY) {                                                                               \
                size_t at = e & CODE;                                                                     \
                if (at >= (size_t)rules->extra_len) return -1;                                            \
                size_t many = rules->extra[at];                                                           \
                if (many > (size_t)rules->extra_len - at - 1) return -1;                                  \
                if (grow((void **)&room->code, &room->code_cap,                                           \
                         m + many + (size_t)(text->length - i) + 1, sizeof(uint32_t)) < 0) return -1;     \
                out = room->code;                                                                         \
                for (size_t k = 0; k < many; k++) {                                                       \
                    e = rules->extra[at + 1 + k];                                                         \
                    out[m] = e;                                                                           \
                    m += !(e == SPACE && (last == SPACE || (sizeof(TYPE) > 1 && (last & silent))));                             \
                    last = e;                                                                             \
                }                                                                                         \
            } else {                                                                                      \
                out[m] = e;                                                                               \
                m += !(e == SPACE && (last == SPACE || (sizeof(TYPE) > 1 && (last & silent))));                                 \
                last = e;                                                                                 \
            }                                                                                             \
        }                                                                                                 \
    } while (0)

/* The normal form of `text` in room->code, class bits kept; its length, or -1 out of memory. */
static Py_ssize_t fold(const Text *text, int folded, const Rules *rules, Room *room) {
    size_t m = 0;
    uint32_t silent = rules->word ? 0 : BRIEF; /* a space behind Han or kana is a way of typing, unless words are cut */
    uint32_t last = SPACE; /* so that no space opens the text; a register, because reading out[m - 1] back is slow */
    if (grow((void **)&room->code, &room->code_cap, (size_t)text->length + 1, sizeof(uint32_t)) < 0) return -1;
    uint32_t *out = room->code;
    if (folded) {
        for (Py_ssize_t i = 0; i < text->length; i++) out[i] = classed(char_at(text, i), rules->table);
        return text->length;
    }
    switch (text->kind) {
        case 1: FOLD(uint8_t); break;
        case 2: FOLD(uint16_t); break;
        default: FOLD(uint32_t); break;
    }
    if (m > 0 && out[m - 1] == SPACE) m--;
    return (Py_ssize_t)m;
}

static inline uint64_t power(uint64_t base, size_t exponent) {
    uint64_t result = 1;
    while (exponent) {
        if (exponent & 1) result *= base;
        base *= base;
        exponent >>= 1;
    }
    return result;
}

/* Hashes of the windows of `n` values: a rolling polynomial, then mixed. Fewer than `n` values make one window. */
#define WINDOWS(NAME, TYPE, VALUE)                                                                  \
    static size_t NAME(const TYPE *value, size_t m, size_t n, uint64_t *gram) {                     \
        uint64_t p = 0;                                                                             \
        size_t width = m < n ? m : n;                                                               \
        for (size_t i = 0; i < width; i++) p = p * BASE + (VALUE(value[i]));                        \
        uint64_t tag = (uint64_t)width * LENGTH;                                                    \
        gram[0] = mix(p + tag);                                                                     \
        if (m <= n) return 1;                                                                       \
        uint64_t out = power(BASE, n);                                                              \
        for (size_t i = n; i < m; i++) {                                                            \
            p = p * BASE + ((VALUE(value[i])) - (VALUE(value[i - n])) * out);                       \
            gram[i - n + 1] = mix(p + tag);                                                         \
        }                                                                                           \
        return m - n + 1;                                                                           \
    }
/* The same where some characters are worth a syllable or a word (Han, kana): a window that begins with one of these is
 * `brief` characters long. */
static size_t windows_of_mixed(const uint32_t *code, size_t m, size_t n, size_t brief, uint64_t *gram) {
    size_t count = 0;
    for (size_t i = 0; i < m; i++) {
        size_t width = code[i] & BRIEF ? brief : n;
        if (width > m - i) continue;
        uint64_t p = 0;
        for (size_t k = 0; k < width; k++) p = p * BASE + (uint64_t)(code[i + k] & CODE);
        gram[count++] = mix(p + (uint64_t)width * LENGTH);
    }
    return count;
}

/* Of a window of `n` characters: five characters of an alphabet are about as much as three of Han or kana. */
static size_t brief_of(size_t n) { return (3 * n + 4) / 5; }

static int any_brief(const uint32_t *code, size_t m) {
    uint32_t bits = 0;
    for (size_t i = 0; i < m; i++) bits |= code[i];
    return (bits & BRIEF) != 0;
}

#define OF_CODE(v) ((uint64_t)((v) & CODE))
#define OF_TOKEN(v) (v)
WINDOWS(windows_of_codes, uint32_t, OF_CODE)
WINDOWS(windows_of_tokens, uint64_t, OF_TOKEN)

static uint64_t hash_of(const uint32_t *code, size_t m) {
    uint64_t p = 0;
    for (size_t i = 0; i < m; i++) p = p * BASE + OF_CODE(code[i]);
    return mix(p + (uint64_t)m * LENGTH);
}

/* The hashes of all grams of the text, repeats included, in room->gram; their number, or -1 out of memory. */
static Py_ssize_t grams(const Text *text, int folded, const Rules *rules, Room *room) {
    Py_ssize_t length = fold(text, folded, rules, room);
    if (length <= 0) return length;
    size_t m = (size_t)length, n = (size_t)rules->n;
    if (grow((void **)&room->gram, &room->gram_cap, m + 1, sizeof(uint64_t)) < 0) return -1;
    if (!rules->word) {
        size_t brief = brief_of(n), count = 0;
        if (!text->ascii && brief < n && any_brief(room->code, m))
            count = windows_of_mixed(room->code, m, n, brief, room->gram);
        return (Py_ssize_t)(count ? count : windows_of_codes(room->code, m, n, room->gram));
    }
    if (grow((void **)&room->token, &room->token_cap, m + 1, sizeof(uint64_t)) < 0) return -1;
    size_t words = 0;
    for (size_t i = 0; i < m;) {
        size_t from = i;
        while (i < m && (room->code[i] & WORD)) i++;
        if (i > from)
            room->token[words++] = hash_of(room->code + from, i - from);
        else
            i++;
    }
    if (words == 0) room->token[words++] = hash_of(room->code, m); /* nothing but signs: the text is its one word */
    return (Py_ssize_t)windows_of_tokens(room->token, words, n, room->gram);
}

#define PAGES (TABLE_SIZE / 256)

/* Mark the pages of the table that the text needs and that are not filled; say whether only Python can fold it. */
static int look_over(const Text *text, const uint32_t *table, uint8_t *pages) {
    int ask = 0;
    for (Py_ssize_t i = 0; i < text->length; i++) {
        uint32_t c = char_at(text, i);
        if (c >= TABLE_SIZE)
            ask = 1;
        else if (table[c] == UNKNOWN)
            pages[c >> 8] = 1;
        else if ((table[c] & (ASK | MANY)) == ASK)
            ask = 1;
    }
    return ask;
}

PyDoc_STRVAR(scan_doc,
             "scan(texts, start, stop, table, flags): flags[i] = 1 where only Python can normalise; the pages of the "
             "table that must be filled first, as bytes.");

static PyObject *scan(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *list, *result = NULL;
    Py_ssize_t start, stop;
    Py_buffer table, flags;
    uint8_t pages[PAGES] = {0};
    if (!PyArg_ParseTuple(args, "O!nny*w*", &PyList_Type, &list, &start, &stop, &table, &flags)) return NULL;
    Text *texts = NULL;
    if (!range_fits(list, start, stop) || !buffer_fits(&table, TABLE_SIZE, 4, "table") ||
        !buffer_fits(&flags, PyList_GET_SIZE(list), 1, "flags"))
        goto done;
    texts = texts_take(list, start, stop);
    if (texts == NULL) goto done;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = start; i < stop; i++)
        if (!texts[i - start].ascii)
            ((uint8_t *)flags.buf)[i] = (uint8_t)look_over(&texts[i - start], table.buf, pages);
    Py_END_ALLOW_THREADS
    result = PyBytes_FromStringAndSize((const char *)pages, PAGES);
done:
    texts_drop(texts, stop - start);
    PyBuffer_Release(&table);
    PyBuffer_Release(&flags);
    return result;
}

#endif
