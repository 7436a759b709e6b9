#include "app.c"
