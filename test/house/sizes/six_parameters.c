/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: six parameters. */
int six(int a, int b, int (*c)(int, int), int d, int e, int f);

int six(int a, int b, int (*c)(int, int), int d, int e, int f)
{
	return a + c(b, d) + e + f;
}
