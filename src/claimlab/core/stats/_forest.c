/* Many small decision trees on counts, one after the other: what `_grow_one` of trees.py does with NumPy. Sums are of whole numbers, and impurities are rounded in the same order, so that both grow the same
 * trees. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const int64_t *column; /* of each question; those of a column follow each other */
    const int64_t *order;  /* columns by cells: the cells of each column by code */
    const int64_t *below;  /* how many cells of its column say no to each question */
    const int32_t *start;  /* of each cell in `highest` */
    const int32_t *highest;
    int64_t questions, columns, cells, classes, leaves;
    float least_rows, least_gain, tiny;
} Asked;

typedef struct {
    float *held;  /* leaves by questions by classes: rows whose highest question it is */
    float *total; /* leaves by classes */
    float *right; /* leaves by classes: rows that say yes to the best question */
    float *gain;
    int64_t *best;
    float *weight; /* by classes */
    float *yes, *no;
    int8_t *leaf; /* of each cell */
} Tree;

static float purity(const Asked *a, const float *rows, const float *weight) {
    float squares = 0, sum = 0;
    for (int64_t k = 0; k < a->classes; k++) {
        const float weighted = rows[k] * weight[k];
        squares = k ? squares + weighted * weighted : weighted * weighted;
        sum = k ? sum + weighted : weighted;
    }
    return squares / (sum > a->tiny ? sum : a->tiny);
}

/* Note the best split of a leaf. The questions of a column are gone through from the highest: a row that says yes to
 * one says yes to those below it. */
static void look(const Asked *a, Tree *t, int64_t leaf, const uint8_t *allowed) {
    const int64_t classes = a->classes;
    const float *total = t->total + leaf * classes, *held = t->held + leaf * a->questions * classes;
    const float whole = purity(a, total, t->weight);
    float highest = -INFINITY;
    t->best[leaf] = 0;
    for (int64_t k = 0; k < classes; k++) t->right[leaf * classes + k] = 0;
    for (int64_t q = a->questions - 1; q >= 0; q--) {
        const int64_t column = a->column[q];
        if (q + 1 == a->questions || a->column[q + 1] != column) memset(t->yes, 0, classes * sizeof *t->yes);
        float said_yes = 0, said_no = 0;
        for (int64_t k = 0; k < classes; k++) {
            t->yes[k] += held[q * classes + k];
            t->no[k] = total[k] - t->yes[k];
            said_yes += t->yes[k], said_no += t->no[k];
        }
        if (said_yes < a->least_rows || said_no < a->least_rows || (allowed && !allowed[column])) continue;
        const float gain = purity(a, t->yes, t->weight) + purity(a, t->no, t->weight) - whole;
        if (gain < highest) continue; /* of equal ones the first, which comes last */
        highest = gain, t->best[leaf] = q;
        memcpy(t->right + leaf * classes, t->yes, classes * sizeof *t->yes);
    }
    t->gain[leaf] = highest;
}

static void count(const Asked *a, float *held, const int32_t *rows, int64_t cell) {
    for (int64_t k = 0; k < a->classes; k++)
        if (rows[cell * a->classes + k])
            for (int32_t i = a->start[cell]; i < a->start[cell + 1]; i++)
                held[a->highest[i] * a->classes + k] += (float)rows[cell * a->classes + k];
}

static int64_t best_leaf(const Asked *a, const Tree *t) {
    int64_t best = 0;
    for (int64_t i = 1; i < a->leaves; i++)
        if (t->gain[i] > t->gain[best]) best = i;
    return best;
}

/* Only the side with fewer cells is walked and counted; the other is what is left of the whole. */
static void split(const Asked *a, Tree *t, const int32_t *rows, int64_t leaf, int64_t new) {
    const int64_t question = t->best[leaf], below = a->below[question], width = a->questions * a->classes;
    const int yes = a->cells - below <= below;
    const int64_t *order = a->order + a->column[question] * a->cells;
    float *held = t->held + leaf * width, *counted = t->held + new * width;
    memset(counted, 0, width * sizeof *counted);
    for (int64_t i = yes ? below : 0; i < (yes ? a->cells : below); i++) {
        if (t->leaf[order[i]] != leaf) continue;
        t->leaf[order[i]] = (int8_t)new;
        count(a, counted, rows, order[i]);
    }
    for (int64_t i = 0; i < width; i++) held[i] -= counted[i];
    for (int64_t k = 0; k < a->classes; k++) {
        float *total = t->total + leaf * a->classes + k;
        const float right = t->right[leaf * a->classes + k], walked = yes ? right : *total - right;
        *total -= walked, t->total[new * a->classes + k] = walked;
    }
}

static void grow_one(const Asked *a, Tree *t, const int32_t *rows, const uint8_t *allowed, int64_t *answer,
                     int64_t *splits) {
    const int64_t classes = a->classes;
    float everyone = 0;
    memset(t->leaf, 0, a->cells);
    memset(t->total, 0, a->leaves * classes * sizeof *t->total);
    memset(t->held, 0, a->questions * classes * sizeof *t->held);
    for (int64_t i = 0; i < a->leaves; i++) t->gain[i] = -INFINITY;
    for (int64_t cell = 0; cell < a->cells; cell++) {
        count(a, t->held, rows, cell);
        for (int64_t k = 0; k < classes; k++) t->total[k] += (float)rows[cell * classes + k];
    }
    for (int64_t k = 0; k < classes; k++) everyone += t->total[k];
    for (int64_t k = 0; k < classes; k++) t->weight[k] = t->total[k] > 0 ? everyone / (classes * t->total[k]) : 0;
    if (a->questions) look(a, t, 0, allowed);
    int64_t used = 1;
    for (; used < a->leaves; used++) {
        const int64_t leaf = best_leaf(a, t);
        if (!(t->gain[leaf] > a->least_gain)) break;
        splits[2 * (used - 1)] = leaf, splits[2 * (used - 1) + 1] = t->best[leaf];
        split(a, t, rows, leaf, used);
        look(a, t, leaf, allowed);
        look(a, t, used, allowed);
    }
    int64_t *label = t->best; /* the questions have been asked */
    for (int64_t i = 0; i < used; i++) {
        const float *total = t->total + i * classes;
        label[i] = 0;
        for (int64_t k = 1; k < classes; k++) {
            const int64_t best = label[i];
            const float now = used > 1 ? total[k] * t->weight[k] : total[k];
            if (now > (used > 1 ? total[best] * t->weight[best] : total[best])) label[i] = k;
        }
    }
    for (int64_t cell = 0; cell < a->cells; cell++) answer[cell] = label[t->leaf[cell]];
}

/* Whether the questions and the cells hold together. */
static int whole(const Asked *a, Py_ssize_t held) {
    if (a->start[0] < 0 || a->start[a->cells] > held) return 0;
    for (int64_t i = 0; i < a->cells; i++)
        if (a->start[i] > a->start[i + 1]) return 0;
    for (int32_t i = a->start[0]; i < a->start[a->cells]; i++)
        if (a->highest[i] < 0 || a->highest[i] >= a->questions) return 0;
    for (int64_t i = 0; i < a->columns * a->cells; i++)
        if (a->order[i] < 0 || a->order[i] >= a->cells) return 0;
    for (int64_t i = 0; i < a->questions; i++)
        if (a->column[i] < 0 || a->column[i] >= a->columns || a->below[i] < 0 || a->below[i] > a->cells) return 0;
    return 1;
}

static PyObject *grow(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer column, order, below, start, highest, counts, allowed, out, splits;
    Asked a;
    long long classes, leaves;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*LLfffw*w*", &column, &order, &below, &start, &highest, &counts, &allowed,
                          &classes, &leaves, &a.least_rows, &a.least_gain, &a.tiny, &out,
                          &splits))
        return NULL;
    Py_buffer *all[] = {&column, &order, &below, &start, &highest, &counts, &allowed, &out, &splits};
    a.column = column.buf, a.order = order.buf, a.below = below.buf, a.start = start.buf, a.highest = highest.buf;
    a.questions = column.len / 8, a.cells = start.len / 4 - 1, a.classes = classes, a.leaves = leaves;
    a.columns = a.cells > 0 ? order.len / 8 / a.cells : 0;
    const int64_t trees = a.cells > 0 ? out.len / 8 / a.cells : 0;
    const int fits = a.cells > 0 && classes > 0 && leaves > 0 && leaves < 128 && below.len == column.len &&
                     counts.len == trees * a.cells * classes * 4 && out.len == trees * a.cells * 8 &&
                     splits.len == trees * (leaves - 1) * 16 &&
                     (!allowed.len || allowed.len == trees * a.columns) && whole(&a, highest.len / 4);
    const int64_t sides = leaves * classes;
    Tree t = {0};
    if (fits) {
        t.held = malloc((leaves * a.questions * classes + 1) * sizeof *t.held);
        t.total = malloc(sides * sizeof *t.total), t.right = malloc(sides * sizeof *t.right);
        t.gain = malloc(leaves * sizeof *t.gain), t.best = malloc(leaves * sizeof *t.best);
        t.weight = malloc(classes * sizeof *t.weight), t.yes = malloc(classes * sizeof *t.yes);
        t.no = malloc(classes * sizeof *t.no), t.leaf = malloc(a.cells);
    }
    const int room =
        t.held && t.total && t.right && t.gain && t.best && t.weight && t.yes && t.no && t.leaf;
    if (fits && room) {
        Py_BEGIN_ALLOW_THREADS for (int64_t i = 0; i < trees; i++) {
            const uint8_t *may = allowed.len ? (const uint8_t *)allowed.buf + i * a.columns : NULL;
            grow_one(&a, &t, (const int32_t *)counts.buf + i * a.cells * classes, may, (int64_t *)out.buf + i * a.cells,
                     (int64_t *)splits.buf + 2 * i * (leaves - 1));
        }
        Py_END_ALLOW_THREADS
    }
    void *spaces[] = {t.held, t.total, t.right, t.gain, t.best, t.weight, t.yes, t.no, t.leaf};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) free(spaces[i]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) PyBuffer_Release(all[i]);
    if (!fits) return PyErr_Format(PyExc_ValueError, "the questions and the counts do not fit together");
    if (!room) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"grow", grow, METH_VARARGS,
     "grow(column, order, below, start, highest, counts, allowed, classes, leaves, least_rows, least_gain, tiny, out, splits):"
     " grow a tree on each table of counts; write what it answers for each cell into `out`, and its splits."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_forest", "The compiled loop of claimlab.core.stats.trees.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__forest(void) { return PyModuleDef_Init(&module); }
