#include <edge.h>

const char *plugin_isa(void);
const char *plugin_isa(void) { return edge_isa(); }
