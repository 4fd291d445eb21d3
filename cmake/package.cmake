# Debian packages: attest (the program) and libattest-dev (what another project builds with).
# `./run package` makes them; docs/in-your-build.md says what is in which.
set(CPACK_PACKAGE_NAME attest)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "attest maintainers <attest@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Is this difference rounding, or a bug? Tests for attention kernels")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/package)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL tool dev)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME attest)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
# What docs/your-kernel.md builds with, and what attest_pipe.py needs.
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "gcc | c-compiler, cmake, make | ninja-build, python3-numpy")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libattest-dev)
# Archives have no dependencies that a tool could read: the test install_outside_project compares this list
# with what an outside project includes and links.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "attest (= ${PROJECT_VERSION}), libmpfr-dev, libgmp-dev, libhwy-dev, libtbb-dev, libfmt-dev, g++ (>= 12)")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake (>= 3.25), libgtest-dev, librapidcheck-dev")
set(CPACK_COMPONENT_TOOL_DESCRIPTION
"The program, real tensors of trained models, manual page and completions.
It checks a kernel on generated and on recorded inputs against a certified
reference and a proven bound, shrinks what fails, and replays it from one line.")
set(CPACK_COMPONENT_DEV_DESCRIPTION
"Headers, static libraries and CMake files: laws as tests of your build
(attest_add_kernel_test), EXPECT_ATTENTION for GoogleTest, generators for
RapidCheck, fuzz targets, and the built-in kernels.")
# A package is made of what is built already: nothing else is built for it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CPack)
