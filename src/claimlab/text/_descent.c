/* A linear support-vector machine with squared hinge loss by dual coordinate descent (Hsieh and others, A Dual
 * Coordinate Descent Method for Large-scale Linear SVM, ICML 2008), on a matrix of compressed rows as it lies in memory.
 *
 * Rows, draws and sums come in the order in which scikit-learn's LinearSVC has them, so that the coefficients are the
 * same; that copies the matrix into three times its bytes first. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef __GNUC__
#define __builtin_prefetch(address) (void)(address)
#endif

typedef struct {
    uint32_t word[624];
    int at;
} Twister; /* MT19937, Matsumoto and Nishimura 1998 */

static void seeded(Twister *t, uint32_t seed) {
    t->word[0] = seed;
    for (uint32_t i = 1; i < 624; i++) t->word[i] = 1812433253u * (t->word[i - 1] ^ (t->word[i - 1] >> 30)) + i;
    t->at = 624;
}

static uint32_t drawn(Twister *t) {
    if (t->at == 624) {
        for (int i = 0; i < 624; i++) {
            uint32_t both = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % 624] & 0x7fffffffu);
            t->word[i] = t->word[(i + 397) % 624] ^ (both >> 1) ^ (both & 1 ? 0x9908b0dfu : 0);
        }
        t->at = 0;
    }
    uint32_t y = t->word[t->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* A whole number from 0 to bound - 1 (Lemire 2019). */
static uint32_t below(Twister *t, uint32_t bound) {
    uint64_t product = (uint64_t)drawn(t) * bound;
    if ((uint32_t)product < bound) {
        uint32_t least = (uint32_t)(0u - bound) % bound;
        while ((uint32_t)product < least) product = (uint64_t)drawn(t) * bound;
    }
    return (uint32_t)(product >> 32);
}

typedef struct {
    const float *value;
    const int32_t *column;
    const int64_t *start; /* of each row of the matrix */
    const int64_t *row;   /* the rows to learn from */
    const int32_t *label; /* of each of them */
    uint32_t rows;
    int32_t width;
} Problem;

typedef struct {
    double *dual, *square; /* of each row: its dual variable; its squared length, softened */
    uint32_t *order;
} Space;

/* One class against the others: `w` has a coefficient for each column, and the intercept. */
static void descend_one(const Problem *p, Space *s, Twister *t, double *w, int32_t positive, double weight,
                        double other_weight, double tolerance, long most) {
    const double soft = 0.5 / weight, other_soft = 0.5 / other_weight;
    double highest = INFINITY;
    uint32_t active = p->rows;
    memset(w, 0, ((size_t)p->width + 1) * sizeof *w);
    for (uint32_t i = 0; i < p->rows; i++) {
        double square = p->label[i] == positive ? soft : other_soft;
        for (int64_t a = p->start[p->row[i]]; a < p->start[p->row[i] + 1]; a++)
            square += (double)p->value[a] * p->value[a];
        s->dual[i] = 0, s->order[i] = i, s->square[i] = square + 1; /* the intercept's 1 */
    }
    for (long round = 0; round < most; round++) {
        double most_now = -INFINITY, least_now = INFINITY;
        for (uint32_t i = 0; i < active; i++) {
            uint32_t j = i + below(t, active - i), kept = s->order[i];
            s->order[i] = s->order[j], s->order[j] = kept;
        }
        for (uint32_t k = 0; k < active; k++) {
            const uint32_t i = s->order[k];
            const int is_positive = p->label[i] == positive;
            const double sign = is_positive ? 1 : -1, softness = is_positive ? soft : other_soft;
            const int64_t from = p->start[p->row[i]], to = p->start[p->row[i] + 1];
            if (k + 1 < active) __builtin_prefetch(p->value + p->start[p->row[s->order[k + 1]]]);
            double slope = 0, projected = 0;
            for (int64_t a = from; a < to; a++) slope += w[p->column[a]] * p->value[a];
            slope = (slope + w[p->width]) * sign - 1 + s->dual[i] * softness;
            if (s->dual[i] == 0) {
                if (slope > highest) { /* it will stay at 0: look at it again at the end */
                    s->order[k--] = s->order[--active];
                    s->order[active] = i;
                    continue;
                }
                if (slope < 0) projected = slope;
            } else {
                projected = slope;
            }
            if (projected > most_now) most_now = projected;
            if (projected < least_now) least_now = projected;
            if (fabs(projected) > 1e-12) {
                const double before = s->dual[i], after = before - slope / s->square[i];
                s->dual[i] = after > 0 ? after : 0;
                const double step = (s->dual[i] - before) * sign;
                for (int64_t a = from; a < to; a++) w[p->column[a]] += step * p->value[a];
                w[p->width] += step;
            }
        }
        highest = most_now > 0 ? most_now : INFINITY;
        if (most_now - least_now > tolerance) continue;
        if (active == p->rows) return;
        active = p->rows;
        highest = INFINITY;
    }
}

/* Whether the matrix holds together. */
static int whole(const Problem *p, Py_ssize_t held, Py_ssize_t starts) {
    for (uint32_t i = 0; i < p->rows; i++) {
        const int64_t row = p->row[i];
        if (row < 0 || row + 1 >= starts || p->start[row] < 0 || p->start[row + 1] > held) return 0;
        for (int64_t a = p->start[row]; a < p->start[row + 1]; a++)
            if (p->column[a] < 0 || p->column[a] >= p->width) return 0;
    }
    return 1;
}

static PyObject *descend(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer value, column, start, row, label, weight, other, out;
    double tolerance;
    long most;
    unsigned int seed;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*dlIw*", &value, &column, &start, &row, &label, &weight, &other,
                          &tolerance, &most, &seed, &out))
        return NULL;
    Py_buffer *all[] = {&value, &column, &start, &row, &label, &weight, &other, &out};
    const Py_ssize_t held = value.len / 4, rows = row.len / 8, starts = start.len / 8, lines = weight.len / 8;
    const Py_ssize_t length = lines ? out.len / 8 / lines : 0;
    int fits = column.len / 4 == held && label.len / 4 == rows && other.len == weight.len && rows && length > 0 &&
               length <= INT32_MAX && rows <= UINT32_MAX;
    Space space = {calloc(rows + 1, 8), calloc(rows + 1, 8), calloc(rows + 1, 4)};
    const int room = space.dual && space.square && space.order;
    if (fits && room) {
        const Problem p = {value.buf, column.buf, start.buf, row.buf, label.buf, (uint32_t)rows, (int32_t)length - 1};
        Twister twister;
        Py_BEGIN_ALLOW_THREADS
        fits = whole(&p, held, starts);
        seeded(&twister, seed);
        for (Py_ssize_t line = 0; fits && line < lines; line++)
            descend_one(&p, &space, &twister, (double *)out.buf + line * length, lines == 1 ? 1 : (int32_t)line,
                        ((double *)weight.buf)[line], ((double *)other.buf)[line], tolerance, most);
        Py_END_ALLOW_THREADS
    }
    free(space.dual), free(space.square), free(space.order);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) PyBuffer_Release(all[i]);
    if (!room) return PyErr_NoMemory();
    if (!fits) return PyErr_Format(PyExc_ValueError, "the arrays do not belong to one matrix");
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"descend", descend, METH_VARARGS,
     "descend(values, columns, starts, rows, labels, weights, other_weights, tolerance, most, seed, out): fit a linear"
     " support-vector machine to the rows and write its coefficients and intercepts into `out`."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_descent", "The compiled loop of claimlab.text.linear.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__descent(void) { return PyModuleDef_Init(&module); }
