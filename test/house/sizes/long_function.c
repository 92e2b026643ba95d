/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: a function of 61 lines. */
int long_function(int x);

int long_function(int x)
{
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	x++;
	return x;
}
