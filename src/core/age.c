/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl's rule for durations: two units where the smaller one still says something, else one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/age.h"

bool time_parse(const char *text, msec *ret)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int hours = 0, minutes = 0;
	double fraction = 0;
	char sign = '+';

	if (!rest)
		return false;
	if (*rest == '.') {
		char *end;

		fraction = strtod(rest, &end);
		rest = end;
	}
	if (!streq(rest, "Z") && sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
		return false;
	*ret = SECONDS(timegm(&tm) - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60)) +
		(msec)(fraction * 1000);
	return true;
}

static void two(char *ret, int64_t n, char unit, int64_t less, char smaller)
{
	if (less)
		snprintf(ret, AGE_SIZE, "%d%c%d%c", (int)n, unit, (int)less, smaller);
	else
		snprintf(ret, AGE_SIZE, "%d%c", (int)n, unit);
}

void age_format(msec age, char ret[AGE_SIZE])
{
	int64_t s = age / 1000, m = s / 60, h = m / 60, d = h / 24;

	if (age < -SECONDS(2))
		copy_str(ret, AGE_SIZE, "<invalid>");
	else if (s < 120)
		two(ret, MAX(s, (int64_t)0), 's', 0, 's');
	else if (m < 10)
		two(ret, m, 'm', s % 60, 's');
	else if (h < 3)
		two(ret, m, 'm', 0, 's');
	else if (h < 8)
		two(ret, h, 'h', m % 60, 'm');
	else if (h < 48)
		two(ret, h, 'h', 0, 'm');
	else if (d < 8)
		two(ret, d, 'd', h % 24, 'h');
	else if (d < 2 * 365)
		two(ret, d, 'd', 0, 'h');
	else if (d < 8 * 365)
		two(ret, d / 365, 'y', d % 365, 'd');
	else
		two(ret, d / 365, 'y', 0, 'd');
}
