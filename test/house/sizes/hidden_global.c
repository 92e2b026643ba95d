/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: a variable hidden in a function. */
int hidden(void);

int hidden(void)
{
	static int counter;

	return ++counter;
}
