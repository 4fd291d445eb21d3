# Where things lie once they are installed, below the prefix. docs/in-your-build.md has the table.
include(GNUInstallDirs)

set(ATTEST_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attest)
set(ATTEST_SHARE_DIR ${CMAKE_INSTALL_DATADIR}/attest)
# Headers of the rooms beside the vocabulary: "properties/case.hpp" is found from here.
set(ATTEST_ROOM_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/attest-harness)
# The program may stand anywhere: it looks for its data from where it is.
file(RELATIVE_PATH ATTEST_DATA_FROM_BIN
  /${CMAKE_INSTALL_BINDIR} /${ATTEST_SHARE_DIR}/real)
