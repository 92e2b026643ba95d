/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: a variable at file scope. */
static int counter;

int next(void);

int next(void)
{
	return ++counter;
}
