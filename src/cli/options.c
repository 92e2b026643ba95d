/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of options and the table's text for --help. It knows neither what a command does nor
 * the agent: what was typed goes into struct args, and a mistake comes back in words.
 */
#include <errno.h>
#include <string.h>

#include "cli/options.h"

#include <vmagent/spec.h>

enum kind { FLAG, TEXT, NUMBER, GRACE, DURATION, FILES, CHOICE /* "server" without a value */ };

struct entry {
	const char *name;
	const char *value;
	const char *help;
	size_t offset; /* of the field in struct args */
	enum kind kind;
	char letter;
};

static const struct entry table[] = {
#define X(c, letter, name, kind, field, value, help) \
	{ name, value, help, offsetof(struct args, field), kind, letter },
	OPTIONS(X)
#undef X
};

struct parser {
	int argc;
	char *const *argv;
	int at;
	const struct command *command;
	uint64_t given; /* options seen before the command was */
	struct args *args;
	struct fault *fault;
};

bool duration_parse(const char *text, msec *ret)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	double total = 0;

	if (streq(text, "0")) {
		*ret = 0;
		return true;
	}
	do {
		char *end;
		size_t i, len;
		double value = strtod(text, &end);

		len = strcspn(end, "0123456789.");
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (strlen(units[i].unit) == len && !strncmp(end, units[i].unit, len))
				break;
		if (end == text || i == ARRAY_SIZE(units) || !(value >= 0) || value > 1e9)
			return false;
		total += value * units[i].ms;
		text = end + len;
	} while (*text);
	*ret = (msec)total;
	return true;
}

static bool flag_parse(const char *text, bool *ret)
{
	if (streq(text, "true") || streq(text, "false"))
		return *ret = streq(text, "true"), true;
	return false;
}

static bool number_parse(const char *text, int64_t *ret)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < 0)
		return false;
	*ret = value;
	return true;
}

/* Seconds; "infinity" is for ever. */
static bool grace_parse(const char *text, int64_t *ret)
{
	int64_t value = GRACE_FOREVER_S;

	if (!streq(text, "infinity") && !number_parse(text, &value))
		return false;
	if (value > GRACE_FOREVER_S)
		return false;
	*ret = value;
	return true;
}

static bool file_add(struct args *args, const char *text)
{
	if (args->n_files == FILES_MAX)
		return false;
	args->files[args->n_files++] = text;
	return true;
}

static bool value_set(struct args *args, const struct entry *entry, const char *text)
{
	void *field = (char *)args + entry->offset;

	switch (entry->kind) {
	case FLAG:
		return flag_parse(text, field);
	case TEXT:
	case CHOICE:
		*(const char **)field = text;
		return true;
	case NUMBER:
		return number_parse(text, field);
	case GRACE:
		return grace_parse(text, field);
	case DURATION:
		return duration_parse(text, field);
	case FILES:
		return file_add(args, text);
	}
	return false;
}

static int refuse(struct parser *p, const char *what, const char *text)
{
	const char *name = p->command ? p->command->name : "help";

	return fault_set(p->fault, EXIT_USAGE, "%s '%s'; see 'vmactl %s%s'", what, text,
		p->command ? name : "help", p->command ? " --help" : "");
}

/* --dry-run server, --dry-run=server and --dry-run alone are all understood. */
static bool is_choice(const struct parser *p)
{
	const char *next = p->at < p->argc ? p->argv[p->at] : NULL;

	return streq(next, "server") || streq(next, "client") || streq(next, "none");
}

/* value is NULL when none is attached to the option: a flag needs none, others
 * take the next word. */
static int take_option(struct parser *p, size_t i, const char *value, const char *shown)
{
	const struct entry *entry = &table[i];

	p->given |= UINT64_C(1) << i;
	if (p->command && !((p->command->options | TAKES_ALWAYS) >> i & 1))
		return refuse(p, "unknown option", shown);
	if (!value && entry->kind == FLAG)
		value = "true";
	if (!value && entry->kind == CHOICE && !is_choice(p))
		value = "server";
	if (!value && p->at == p->argc)
		return refuse(p, "a value is missing after", shown);
	if (!value)
		value = p->argv[p->at++];
	if (!value_set(p->args, entry, value))
		return fault_set(p->fault, EXIT_USAGE, "option '%s' does not take '%s'", shown,
			value);
	return 0;
}

static int take_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strlen(table[i].name) == len && !strncmp(table[i].name, word, len))
			return take_option(p, i, equals ? equals + 1 : NULL, word - 2);
	return refuse(p, "unknown option", word - 2);
}

static size_t letter_find(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].letter == letter)
			return i;
	return ARRAY_SIZE(table);
}

/* -Aw, -ojson, -o=json, -o json */
static int take_letters(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		size_t i = letter_find(*c);
		const char *rest = c[1] == '=' ? c + 2 : c + 1;

		if (i == ARRAY_SIZE(table))
			return refuse(p, "unknown option", word);
		if (table[i].kind != FLAG || c[1] == '=')
			return take_option(p, i, c[1] ? rest : NULL, word);
		if (take_option(p, i, NULL, word))
			return -1;
	}
	return 0;
}

static int take_command(struct parser *p, const char *word)
{
	p->command = command_find(word);
	if (!p->command)
		return refuse(p, "unknown command", word);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (p->given & ~(p->command->options | TAKES_ALWAYS) & UINT64_C(1) << i)
			return refuse(p, "unknown option", table[i].name);
	return 0;
}

static int take_word(struct parser *p, const char *word, bool options_ended)
{
	if (!options_ended && starts_with(word, "--"))
		return take_long(p, word + 2);
	if (!options_ended && word[0] == '-' && word[1])
		return take_letters(p, word);
	if (!p->command)
		return take_command(p, word);
	p->args->names[p->args->n_names++] = word;
	return 0;
}

int options_parse(int argc, char *const *argv, const struct command **ret_command,
	struct args *ret_args, struct fault *fault)
{
	struct parser p = { .argc = argc, .argv = argv, .args = ret_args, .fault = fault };
	bool ended = false;
	int ret = 0;

	*ret_args = (struct args){ .wait = true,
		.validate = true,
		.grace = GRACE_UNSET,
		.port = -1,
		.timeout = -1,
		.request_timeout = SECONDS(30),
		.drain = SECONDS(2),
		.names = xcalloc((size_t)argc + 1, sizeof(*ret_args->names)) };
	while (!ret && p.at < argc) {
		const char *word = argv[p.at++];

		if (!ended && streq(word, "--"))
			ended = true;
		else
			ret = take_word(&p, word, ended);
	}
	ret_args->given = p.given;
	*ret_command = p.command;
	return ret;
}

static void option_help(const struct entry *entry, FILE *out)
{
	autofree char *left = xasprintf("  %c%c%s --%s%s%s", entry->letter ? '-' : ' ',
		entry->letter ? entry->letter : ' ', entry->letter ? "," : " ", entry->name,
		entry->value ? "=" : "", entry->value ? entry->value : "");

	if (strlen(left) > 27)
		fprintf(out, "%s\n%28s%s\n", left, "", entry->help);
	else
		fprintf(out, "%-27s %s\n", left, entry->help);
}

void options_help(uint64_t options, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (options >> i & 1)
			option_help(&table[i], out);
}
