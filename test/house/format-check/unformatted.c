/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: braces, spaces and indentation of another house. */
int unformatted( int x ) {
    if(x) return 1;
    return 0;
}
