/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a template's text to its parts. A recursive descent over one cursor: braces hold paths,
 * quoted text or range and end; a path is a row of steps; a filter holds two paths or constants.
 */
#include <stdio.h>
#include <string.h>

#include "cli/jsonpath_tree.h"

struct parser {
	const char *text; /* the whole template, for messages */
	const char *at;
	int nesting;
	struct err *err;
};

static int parse_path(struct parser *p, struct expr *ret);

static int refuse(struct parser *p, const char *what)
{
	return err_set(p->err, ERR_BAD_REQUEST, "jsonpath '%s': %s at position %td", p->text, what,
		p->at - p->text + 1);
}

static void expr_done(struct expr *expr);

static void step_done(struct step *step)
{
	free(step->name);
	for (size_t i = 0; i < step->n_either; i++)
		step_done(&step->either[i]);
	free(step->either);
	expr_done(&step->left);
	expr_done(&step->right);
}

static void expr_done(struct expr *expr)
{
	for (size_t i = 0; i < expr->n; i++)
		step_done(&expr->steps[i]);
	free(expr->steps);
	node_free(expr->constant);
	*expr = (struct expr){ 0 };
}

void jsonpath_free(struct jsonpath *path)
{
	for (size_t i = 0; path && i < path->n; i++) {
		free(path->parts[i].text);
		expr_done(&path->parts[i].expr);
	}
	if (path)
		free(path->parts);
	free(path);
}

static void skip_space(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take_char(struct parser *p, char c)
{
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* Owned text between quotes, with \n, \t and the like; NULL: not closed. */
static char *read_quoted(struct parser *p)
{
	static const char from[] = "ntr", to[] = "\n\t\r";
	struct buf out = { 0 };
	char quote = *p->at++;

	buf_puts(&out, "");
	for (; *p->at && *p->at != quote; p->at++) {
		const char *escape = NULL;

		if (*p->at == '\\' && p->at[1])
			escape = strchr(from, *++p->at);
		buf_add(&out, escape ? &to[escape - from] : p->at, 1);
	}
	if (take_char(p, quote))
		return out.data;
	buf_done(&out);
	refuse(p, "a quote is not closed");
	return NULL;
}

/* Owned name after a dot; a backslash takes the next character as it is. */
static char *read_name(struct parser *p)
{
	struct buf out = { 0 };

	buf_puts(&out, "");
	while (*p->at && !strchr(" \t\n.[](){}=!<>,'\"?@$*|", *p->at)) {
		if (*p->at == '\\' && p->at[1])
			p->at++;
		buf_add(&out, p->at++, 1);
	}
	return out.data;
}

static bool read_int(struct parser *p, int64_t *ret)
{
	char *end;

	skip_space(p);
	*ret = strtoll(p->at, &end, 10);
	if (end == p->at)
		return false;
	p->at = end;
	skip_space(p);
	return true;
}

/* 1, -1, 1:3, :2, 1:, ::2 */
static int read_slice(struct parser *p, struct step *step)
{
	step->kind = STEP_SLICE;
	step->by = 1;
	step->has_from = read_int(p, &step->from);
	step->single = *p->at != ':';
	if (step->single)
		return step->has_from ? 0 : refuse(p, "an index is expected");
	p->at++;
	step->has_to = read_int(p, &step->to);
	if (take_char(p, ':') && (!read_int(p, &step->by) || step->by < 1))
		return refuse(p, "a slice's step is a number of at least 1");
	return 0;
}

static int read_element(struct parser *p, struct step *step)
{
	skip_space(p);
	if (take_char(p, '*')) {
		step->kind = STEP_ALL;
		return 0;
	}
	if (*p->at == '\'' || *p->at == '"') {
		step->kind = STEP_FIELD;
		step->name = read_quoted(p);
		return step->name ? 0 : -ERR_BAD_REQUEST;
	}
	return read_slice(p, step);
}

static struct step *add_step(struct step **steps, size_t *n)
{
	*steps = xrealloc_array(*steps, *n + 1, sizeof(**steps));
	(*steps)[*n] = (struct step){ 0 };
	return &(*steps)[(*n)++];
}

static int read_number(struct parser *p, struct expr *ret)
{
	size_t len = strspn(p->at, "+-.0123456789eE");
	autofree char *text = xstrndup(p->at, len);

	ret->constant = node_new(NODE_NUMBER, text);
	p->at += len;
	return 0;
}

static int read_operand(struct parser *p, struct expr *ret)
{
	skip_space(p);
	if (*p->at == '\'' || *p->at == '"') {
		autofree char *text = read_quoted(p);

		if (!text)
			return -ERR_BAD_REQUEST;
		ret->constant = node_new(NODE_STRING, text);
		return 0;
	}
	if (*p->at && strchr("+-0123456789", *p->at))
		return read_number(p, ret);
	for (int i = 0; i < 2; i++) {
		const char *word = i ? "false" : "true";

		if (!starts_with(p->at, word))
			continue;
		p->at += strlen(word);
		ret->constant = node_new(NODE_BOOL, word);
		return 0;
	}
	return parse_path(p, ret);
}

static enum compare read_compare(struct parser *p)
{
	static const struct {
		const char *text;
		enum compare compare;
	} table[] = { { "==", COMPARE_EQ }, { "!=", COMPARE_NE }, { "<=", COMPARE_LE },
		{ ">=", COMPARE_GE }, { "<", COMPARE_LT }, { ">", COMPARE_GT } };

	skip_space(p);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (starts_with(p->at, table[i].text)) {
			p->at += strlen(table[i].text);
			return table[i].compare;
		}
	return COMPARE_EXISTS;
}

/* After "?(". */
static int read_filter(struct parser *p, struct step *step)
{
	int ret;

	step->kind = STEP_FILTER;
	if (p->nesting++ == JSONPATH_NESTING_MAX)
		return refuse(p, "less nesting is expected");
	ret = read_operand(p, &step->left);
	if (!ret) {
		step->compare = read_compare(p);
		if (step->compare != COMPARE_EXISTS)
			ret = read_operand(p, &step->right);
	}
	skip_space(p);
	p->nesting--;
	if (!ret && !take_char(p, ')'))
		return refuse(p, "')' is expected at the end of a filter");
	return ret;
}

/* After "[". */
static int read_brackets(struct parser *p, struct step *step)
{
	struct step first = { 0 };
	int ret;

	skip_space(p);
	if (starts_with(p->at, "?(")) {
		p->at += 2;
		ret = read_filter(p, step);
	} else {
		ret = read_element(p, &first);
		skip_space(p);
		if (*p->at != ',') {
			*step = first;
		} else {
			step->kind = STEP_UNION;
			*add_step(&step->either, &step->n_either) = first;
		}
	}
	while (!ret && step->kind == STEP_UNION && take_char(p, ',')) {
		ret = read_element(p, add_step(&step->either, &step->n_either));
		skip_space(p);
	}
	skip_space(p);
	return ret || take_char(p, ']') ? ret : refuse(p, "']' is expected");
}

/* After a dot: a name or a star. */
static int read_field(struct parser *p, struct step *step)
{
	step->kind = STEP_FIELD;
	if (take_char(p, '.'))
		step->kind = STEP_RECURSE;
	if (take_char(p, '*')) {
		step->kind = step->kind == STEP_FIELD ? STEP_ALL : STEP_RECURSE;
		return 0;
	}
	step->name = read_name(p);
	if (!*step->name)
		return refuse(p, "a field's name is expected");
	return 0;
}

/* A path: @ or $ or nothing, then steps. A dot alone is the object itself. */
static int parse_path(struct parser *p, struct expr *ret)
{
	const char *begin = p->at;
	int result = 0;

	if (take_char(p, '$'))
		ret->from_root = true;
	else
		take_char(p, '@');
	if (*p->at == '.' && (!p->at[1] || strchr(" })", p->at[1])))
		p->at++;
	while (!result) {
		if (take_char(p, '.'))
			result = *p->at == '[' ? 0 : read_field(p, add_step(&ret->steps, &ret->n));
		else if (take_char(p, '['))
			result = read_brackets(p, add_step(&ret->steps, &ret->n));
		else
			break;
	}
	if (!result && p->at == begin)
		return refuse(p, "a path is expected: it begins with '.', '[', '@' or '$'");
	return result;
}

static struct part *add_part(struct jsonpath *path, enum part_kind kind)
{
	path->parts = xrealloc_array(path->parts, path->n + 1, sizeof(*path->parts));
	path->parts[path->n] = (struct part){ .kind = kind };
	return &path->parts[path->n++];
}

static bool take_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if (!starts_with(p->at, word) || !strchr(" \t\n}", p->at[len]))
		return false;
	p->at += len;
	skip_space(p);
	return true;
}

/* What braces hold, up to and with the closing one. */
static int read_action(struct parser *p, struct jsonpath *path, int *depth)
{
	int ret = 0;

	skip_space(p);
	while (!ret && *p->at != '}') {
		if (!*p->at)
			return refuse(p, "'}' is missing");
		if (take_word(p, "range")) {
			if (++*depth > JSONPATH_NESTING_MAX)
				return refuse(p, "less nesting is expected");
			ret = parse_path(p, &add_part(path, PART_RANGE)->expr);
		} else if (take_word(p, "end")) {
			if (!(*depth)--)
				return refuse(p, "'end' without a range");
			add_part(path, PART_END);
		} else {
			ret = read_operand(p, &add_part(path, PART_PATH)->expr);
		}
		skip_space(p);
	}
	p->at += !ret;
	return ret;
}

static int read_parts(struct parser *p, struct jsonpath *path)
{
	int depth = 0, ret = 0;

	while (!ret && *p->at) {
		size_t len = strcspn(p->at, "{");

		if (len)
			add_part(path, PART_TEXT)->text = xstrndup(p->at, len);
		p->at += len;
		if (take_char(p, '{'))
			ret = read_action(p, path, &depth);
	}
	return ret || !depth ? ret : refuse(p, "a range is not closed by {end}");
}

int jsonpath_parse(const char *template, struct jsonpath **ret, struct err *err)
{
	struct jsonpath *path = xcalloc(1, sizeof(*path));
	struct parser p = { .text = template, .at = template, .err = err };
	int result = read_parts(&p, path);

	if (result)
		jsonpath_free(path);
	else
		*ret = path;
	return result;
}

int jsonpath_parse_path(const char *path, struct jsonpath **ret, struct err *err)
{
	bool braces = *path == '{', rooted = *path && strchr(".[$@", *path);
	autofree char *template = braces ? xstrdup(path)
					 : xasprintf("{%s%s}", rooted ? "" : ".", path);

	return jsonpath_parse(template, ret, err);
}
