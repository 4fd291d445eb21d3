/* attest/kernel_abi.h alone, as C11 without extensions: it compiles, and its structs can grow. */
#include "attest/kernel_abi.h"

_Static_assert(offsetof(attest_problem, size) == 0, "size comes first");
_Static_assert(offsetof(attest_tensor, size) == 0, "size comes first");
_Static_assert(offsetof(attest_tiling, size) == 0, "size comes first");
_Static_assert(offsetof(attest_forward_tensors, size) == 0, "size comes first");
_Static_assert(offsetof(attest_backward_tensors, size) == 0, "size comes first");
_Static_assert(offsetof(attest_message, size) == 0, "size comes first");
_Static_assert(offsetof(attest_accuracy, size) == 0, "size comes first");
_Static_assert(offsetof(attest_description, size) == 0, "size comes first");
_Static_assert(offsetof(attest_part, size) == 0, "size comes first");
_Static_assert(offsetof(attest_kernel_table, size) == 0, "size comes first");
/* Structs are read up to a size in whole words: none ends in the middle of one. */
_Static_assert(sizeof(attest_problem) % 8 == 0, "whole words");
_Static_assert(sizeof(attest_accuracy) % 8 == 0, "whole words");
_Static_assert(sizeof(attest_description) % 8 == 0, "whole words");
_Static_assert(sizeof(attest_kernel_table) % 8 == 0, "whole words");
/* Version 1 of the structs: what was built against it must find the same members. */
_Static_assert(sizeof(attest_tensor) == 88, "version 1");
_Static_assert(sizeof(attest_accuracy) == 136, "version 1");
_Static_assert(sizeof(attest_description) == 464, "version 1");
_Static_assert(sizeof(attest_problem) == 456, "version 1");
_Static_assert(offsetof(attest_description, accuracy) == 456, "version 1");
_Static_assert(offsetof(attest_problem, page_table_columns) == 448, "version 1");

int attest_abi_header_knows_its_members(void);
int attest_abi_header_knows_its_members(void) {
  const attest_tiling older = {.size = offsetof(attest_tiling, splits)};
  return ATTEST_KNOWS(&older, attest_tiling, tile_kv) &&
         !ATTEST_KNOWS(&older, attest_tiling, splits);
}
