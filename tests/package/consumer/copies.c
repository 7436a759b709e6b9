/* A program over two shared libraries: each of the three has a copy of the library. */
int own(void), one(void), two(void);

int main(void) { return own() || one() || two(); }
