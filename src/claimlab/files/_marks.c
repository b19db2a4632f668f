/* The count of marks of claimlab.files.count_marks: quotes, delimiters and line ends, inside and outside quotes.
 *
 * Most bytes of a table are none of these. 16 or 64 bytes are compared together, and only the marks among them are looked at
 * one by one. slow_count in marks.py counts the same in Python, and the tests hold the two to identical results: change them
 * together.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#endif

/* The state that one piece passes to the next, as 64-bit integers; count_marks.py reads the counts by the same names. */
typedef struct {
    int64_t size, nul, quotes, wrong, delimiters, fewest, most, newlines, outside, blank, returns, pairs;
    int64_t inside;  /* a quote is open */
    int64_t pending; /* delimiters outside quotes since the last row ended */
    int64_t row;     /* where the row in progress begins */
    int64_t last;    /* where the last mark was */
    int64_t kind;    /* what it was: see below */
} State;

enum { START, CLOSING, RETURN, RETURN_AFTER_CLOSING, OTHER };

static inline void row_ends(State *s, int64_t at, int after_return) {
    s->outside++;
    if (at == s->row || (at == s->row + 1 && after_return)) {
        s->blank++;
    } else {
        if (s->fewest < 0 || s->pending < s->fewest) s->fewest = s->pending;
        if (s->pending > s->most) s->most = s->pending;
    }
    s->pending = 0;
    s->row = at + 1;
}

static inline void mark(State *s, unsigned char byte, unsigned char delimiter, int64_t at) {
    int next = at == s->last + 1; /* this mark is right after the last one */
    int64_t before = next ? s->kind : OTHER;
    if ((s->kind == CLOSING && !next) || (s->kind == RETURN_AFTER_CLOSING && !(next && byte == '\n'))) s->wrong = 1;
    s->last = at;
    s->kind = OTHER;
    if (byte == delimiter) {
        s->delimiters++;
        s->pending += !s->inside;
        s->kind = START;
    } else if (byte == '"') {
        s->quotes++;
        if (!s->inside && before != START && before != CLOSING) s->wrong = 1;
        if (s->inside) s->kind = CLOSING;
        s->inside = !s->inside;
    } else if (byte == '\n') {
        int after_return = before == RETURN || before == RETURN_AFTER_CLOSING;
        s->newlines++;
        s->pairs += after_return;
        if (!s->inside) row_ends(s, at, after_return);
        s->kind = START;
    } else if (byte == '\r') {
        s->returns++;
        s->kind = before == CLOSING ? RETURN_AFTER_CLOSING : RETURN;
    } else { /* NUL */
        if (s->nul < 0) s->nul = at;
        if (before == CLOSING) s->wrong = 1;
    }
}

static void scan(State *s, const unsigned char *data, Py_ssize_t length, unsigned char delimiter) {
    Py_ssize_t i = 0;
#if defined(__SSE2__) && defined(__GNUC__)
    const __m128i marks[5] = {_mm_set1_epi8((char)delimiter), _mm_set1_epi8('"'), _mm_set1_epi8('\n'),
                              _mm_set1_epi8('\r'), _mm_setzero_si128()};
    for (; i + 64 <= length; i += 64) {
        uint64_t bits = 0;
        for (int part = 0; part < 4; part++) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(data + i + 16 * part));
            __m128i any = _mm_cmpeq_epi8(bytes, marks[0]);
            for (int m = 1; m < 5; m++) any = _mm_or_si128(any, _mm_cmpeq_epi8(bytes, marks[m]));
            bits |= (uint64_t)(uint16_t)_mm_movemask_epi8(any) << (16 * part);
        }
        for (; bits; bits &= bits - 1) {
            Py_ssize_t at = i + __builtin_ctzll(bits);
            mark(s, data[at], delimiter, s->size + at);
        }
    }
#elif defined(__aarch64__) && defined(__GNUC__)
    const uint8x16_t marks[5] = {vdupq_n_u8(delimiter), vdupq_n_u8('"'), vdupq_n_u8('\n'), vdupq_n_u8('\r'),
                                 vdupq_n_u8(0)};
    for (; i + 16 <= length; i += 16) {
        uint8x16_t bytes = vld1q_u8(data + i);
        uint8x16_t any = vceqq_u8(bytes, marks[0]);
        for (int m = 1; m < 5; m++) any = vorrq_u8(any, vceqq_u8(bytes, marks[m]));
        /* four bits of each byte, since ARM has no movemask; one of them is kept */
        uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(any), 4)), 0);
        for (bits &= 0x8888888888888888u; bits; bits &= bits - 1) {
            Py_ssize_t at = i + (__builtin_ctzll(bits) >> 2);
            mark(s, data[at], delimiter, s->size + at);
        }
    }
#endif
    for (; i < length; i++) {
        unsigned char byte = data[i];
        if (byte == delimiter || byte == '"' || byte == '\n' || byte == '\r' || byte == 0)
            mark(s, byte, delimiter, s->size + i);
    }
    s->size += length;
}

static PyObject *count(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer data, state;
    int delimiter;
    if (!PyArg_ParseTuple(args, "y*iw*", &data, &delimiter, &state)) return NULL;
    if (state.len != (Py_ssize_t)sizeof(State)) {
        PyBuffer_Release(&data);
        PyBuffer_Release(&state);
        return PyErr_Format(PyExc_ValueError, "the state must have %zu bytes", sizeof(State));
    }
    State copy;
    memcpy(&copy, state.buf, sizeof copy);
    Py_BEGIN_ALLOW_THREADS
    scan(&copy, data.buf, data.len, (unsigned char)delimiter);
    Py_END_ALLOW_THREADS
    memcpy(state.buf, &copy, sizeof copy);
    PyBuffer_Release(&data);
    PyBuffer_Release(&state);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"count", count, METH_VARARGS, "count(data, delimiter, state): add the marks of a piece to `state`."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_marks", "The compiled loop of claimlab.files.marks.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__marks(void) { return PyModuleDef_Init(&module); }
