/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of -o. A printer owns its parsed templates and the rows that wait to be printed; what
 * an object's columns are is the resource's table, or custom-columns.
 */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "cli/print.h"

#include "core/age.h"
#include "core/claim.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/yaml.h"

char *object_title(const struct resource *resource, const struct node *object)
{
	const char *name = node_text(object, "metadata.name");

	return xasprintf("%s/%s", resource->full, name ? name : "");
}

static msec wall_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return SECONDS(ts.tv_sec) + ts.tv_nsec / 1000000;
}

static void forget_columns(struct printer *p)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		free(p->columns[i].title);
		jsonpath_free(p->columns[i].path);
	}
	p->n_columns = 0;
}

static int add_column(struct printer *p, const char *title, const char *path, enum cell cell,
	struct err *err)
{
	struct print_column *column = &p->columns[p->n_columns];
	int ret;

	if (p->n_columns == TABLE_COLUMNS_MAX)
		return err_set(err, ERR_BAD_REQUEST, "at most %d columns", TABLE_COLUMNS_MAX);
	ret = jsonpath_parse_path(path, &column->path, err);
	if (ret)
		return ret;
	column->title = xstrdup(title);
	column->cell = cell;
	p->n_columns++;
	return 0;
}

/* NAME:.path,NAME:.path */
static int parse_columns(struct printer *p, const char *text, struct err *err)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy;
	int ret = 0;

	while (!ret && rest) {
		char *title = strsep(&rest, ",");
		char *path = strchr(title, ':');

		if (!path)
			return err_set(err, ERR_BAD_REQUEST,
				"custom-columns: '%s' is not NAME:PATH", title);
		*path++ = '\0';
		ret = add_column(p, title, path, CELL_TEXT, err);
	}
	return ret;
}

static int parse_format(struct printer *p, const char *text, struct err *err)
{
	static const struct {
		const char *name;
		enum format format;
	} plain[] = { { "json", FORMAT_JSON }, { "yaml", FORMAT_YAML }, { "name", FORMAT_NAME } };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (streq(text, plain[i].name))
			return p->format = plain[i].format, 0;
	p->wide = streq(text, "wide");
	if (p->wide)
		return 0;
	if (starts_with(text, "jsonpath=")) {
		p->format = FORMAT_JSONPATH;
		return jsonpath_parse(text + strlen("jsonpath="), &p->template, err);
	}
	if (starts_with(text, "custom-columns=")) {
		p->format = FORMAT_COLUMNS;
		return parse_columns(p, text + strlen("custom-columns="), err);
	}
	return err_set(err, ERR_BAD_REQUEST,
		"unknown output format '%s'; there are wide, json, yaml, name, jsonpath=TEMPLATE "
		"and custom-columns=NAME:PATH,...",
		text);
}

int printer_init(struct printer *p, const struct cli *cli, struct fault *fault)
{
	struct err err = { 0 };

	*p = (struct printer){ .no_headers = cli->args.no_headers,
		.show_labels = cli->args.show_labels,
		.with_namespace = cli->args.all_namespaces };
	if (cli->args.output && parse_format(p, cli->args.output, &err))
		return fault_set(fault, EXIT_USAGE, "%s", err.msg);
	return 0;
}

void printer_done(struct printer *p)
{
	forget_columns(p);
	jsonpath_free(p->template);
	table_done(&p->table);
}

/* Whether a row begins with its namespace. */
static bool has_namespace(const struct printer *p, const struct resource *resource)
{
	return p->with_namespace && p->format == FORMAT_TABLE && !resource->of_the_host;
}

/* The resource's own columns; custom ones stay. */
static void set_columns(struct printer *p, const struct resource *resource)
{
	if (p->resource == resource || p->format == FORMAT_COLUMNS)
		return;
	forget_columns(p);
	for (const struct column *c = resource->columns; c->title; c++)
		if (p->wide || !c->wide)
			add_column(p, c->title, c->path, c->cell, NULL);
	if (p->show_labels)
		add_column(p, "LABELS", ".metadata.labels", CELL_LABELS, NULL);
	p->resource = resource;
}

void printer_begin(struct printer *p, const struct resource *resource)
{
	bool other = p->has_header;

	if (p->format != FORMAT_TABLE && p->format != FORMAT_COLUMNS)
		return;
	set_columns(p, resource);
	table_done(&p->table);
	p->table.n_columns = p->n_columns + has_namespace(p, resource);
	if (p->no_headers)
		return;
	if (other)
		fputc('\n', stdout);
	p->has_header = true;
	if (has_namespace(p, resource))
		table_add(&p->table, "NAMESPACE");
	for (size_t i = 0; i < p->n_columns; i++)
		table_add(&p->table, p->columns[i].title);
}

static void add_age(struct printer *p, const struct node *found)
{
	char text[AGE_SIZE];
	msec then;

	if (!found || !time_parse(found->text, &then)) {
		table_add(&p->table, "<unknown>");
		return;
	}
	age_format(wall_clock() - then, text);
	table_add(&p->table, text);
}

/* "virtualmachine/web" of an involvedObject. */
static void add_object(struct printer *p, const struct node *found)
{
	const char *kind = node_text(found, "kind"), *name = node_text(found, "name");
	autofree char *text = xasprintf("%s/%s", kind ? kind : "", name ? name : "");

	for (char *c = text; *c && *c != '/'; c++)
		*c = (char)tolower((unsigned char)*c);
	table_add(&p->table, text);
}

static void add_text(struct printer *p, const struct node *found)
{
	struct buf text = { 0 };

	if (found)
		jsonpath_print_node(found, &text);
	else if (p->format == FORMAT_COLUMNS)
		buf_puts(&text, "<none>");
	table_add(&p->table, text.data);
	buf_done(&text);
}

/* "1/1": how many of the containers are ready. */
static void add_ready(struct printer *p, const struct node *found)
{
	size_t n = found ? found->n_children : 0, ready = 0;
	autofree char *text = NULL;

	for (size_t i = 0; i < n; i++)
		ready += streq(node_text(found->children[i], "ready"), "true");
	text = xasprintf("%zu/%zu", ready, n);
	table_add(&p->table, text);
}

static void add_count(struct printer *p, const struct node *found)
{
	autofree char *text = xasprintf("%zu", found ? found->n_children : 0);

	table_add(&p->table, text);
}

/* Nothing while nothing is copied. */
static void add_progress(struct printer *p, const struct node *found)
{
	int percent = progress_percent(json_number_at(found, "bytesTotal", 0),
		json_number_at(found, "bytesRemaining", 0));
	autofree char *text = percent < 0 ? NULL : xasprintf("%d%%", percent);

	table_add(&p->table, text);
}

static void add_well(struct printer *p, const struct node *found)
{
	table_add(&p->table, found && streq(found->text, "True") ? "Ready" : "NotReady");
}

static void add_modes(struct printer *p, const struct node *found)
{
	autofree char *text = claim_modes_text(found);

	table_add(&p->table, text);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(struct node *const *)a)->key, (*(struct node *const *)b)->key);
}

static void add_labels(struct printer *p, const struct node *labels)
{
	struct node *sorted = node_copy(labels);
	struct buf text = { 0 };

	if (sorted && sorted->n_children)
		qsort(sorted->children, sorted->n_children, sizeof(struct node *), compare_keys);
	for (size_t i = 0; sorted && i < sorted->n_children; i++)
		buf_printf(&text, "%s%s=%s", i ? "," : "", sorted->children[i]->key,
			sorted->children[i]->text);
	table_add(&p->table, text.data ? text.data : "<none>");
	buf_done(&text);
	node_free(sorted);
}

static void add_why(struct printer *p, const struct node *status)
{
	const char *failure = node_text(status, "migrationState.failureReason");
	const struct node *list = node_get(status, "conditions");

	for (size_t i = 0; list && i < list->n_children && !failure; i++)
		failure = node_text(list->children[i], "message");
	table_add(&p->table, failure);
}

static void add_name(struct printer *p, const struct resource *resource, const struct node *object)
{
	autofree char *title = object_title(resource, object);

	table_add(&p->table, title);
}

static void add_cell(struct printer *p, enum cell cell, const struct node *found)
{
	switch (cell) {
	case CELL_TEXT:
	case CELL_PHASE:
		add_text(p, found);
		break;
	case CELL_AGE:
		add_age(p, found);
		break;
	case CELL_OBJECT:
		add_object(p, found);
		break;
	case CELL_READY:
		add_ready(p, found);
		break;
	case CELL_COUNT:
		add_count(p, found);
		break;
	case CELL_PROGRESS:
		add_progress(p, found);
		break;
	case CELL_WELL:
		add_well(p, found);
		break;
	case CELL_MODES:
		add_modes(p, found);
		break;
	case CELL_LABELS:
		add_labels(p, found);
		break;
	case CELL_WHY:
		add_why(p, found);
		break;
	}
}

static void add_row(struct printer *p, const struct resource *resource, const struct node *object)
{
	if (has_namespace(p, resource))
		table_add(&p->table, node_text(object, "metadata.namespace"));
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct node *found = jsonpath_first(p->columns[i].path, object);

		if (p->with_type && p->format == FORMAT_TABLE && streq(p->columns[i].title, "NAME"))
			add_name(p, resource, object);
		else if (p->columns[i].cell == CELL_PHASE &&
			node_at(object, "metadata.deletionTimestamp"))
			table_add(&p->table, "Terminating");
		else
			add_cell(p, p->columns[i].cell, found);
	}
}

static void print_text(const char *text)
{
	fputs(text ? text : "", stdout);
}

static void print_json(const struct node *object)
{
	autofree char *json = node_json(object);
	struct buf out = { 0 };

	json_indent(json, &out);
	buf_puts(&out, "\n");
	print_text(out.data);
	buf_done(&out);
}

void printer_add(struct printer *p, const struct resource *resource, const struct node *object)
{
	struct buf out = { 0 };
	autofree char *title = NULL;

	switch (p->format) {
	case FORMAT_TABLE:
	case FORMAT_COLUMNS:
		add_row(p, resource, object);
		break;
	case FORMAT_JSON:
		print_json(object);
		break;
	case FORMAT_YAML:
		if (p->has_header)
			buf_puts(&out, "---\n");
		p->has_header = true;
		yaml_print(object, &out);
		break;
	case FORMAT_NAME:
		title = object_title(resource, object);
		buf_printf(&out, "%s\n", title);
		break;
	case FORMAT_JSONPATH:
		jsonpath_print(p->template, object, &out);
		break;
	}
	print_text(out.data);
	buf_done(&out);
}

void printer_flush(struct printer *p)
{
	if (p->table.n_columns)
		table_print(&p->table, stdout);
	fflush(stdout);
}
