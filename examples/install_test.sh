#!/bin/sh
# Whether a project of somebody else can be built and tested with what `cmake --install` copies:
# installs into a folder, moves it, builds examples/cmake_project against it, runs its tests, and
# sees that those of a wrong kernel fail. Then whether the Debian package names what was needed.
#
#   examples/install_test.sh BUILD CXX WORK
set -eu
build=$1 cxx=$2 work=$3
CDPATH='' cd "$(dirname "$0")/.."
project=$PWD/examples/cmake_project

fail() {
  echo "install_test: $*" >&2
  exit 1
}

# expect_line FILE REGEX: some line of the file is like that.
expect_line() {
  grep -Eq "$2" "$1" || { cat "$1" >&2; fail "no line of $1 is like: $2"; }
}

rm -rf "${work:?}"
mkdir -p "$work"
for component in tool dev; do
  cmake --install "$build" --component $component --prefix "$work/first" >"$work/installed.$component"
done
# Nothing may know where it was installed.
mv "$work/first" "$work/prefix"
prefix=$work/prefix

# -- the program ----------------------------------------------------------------------------------

for file in bin/attest share/attest/real/README.md share/man/man1/attest.1 \
  share/attest/pipe/attest_pipe.py share/doc/attest/examples/plugin_c/attention.c \
  share/bash-completion/completions/attest share/doc/attest/in-your-build.md \
  include/attest/gtest.hpp include/attest/rapidcheck.hpp include/attest-harness/properties/laws.hpp; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
tensors=$(find "$prefix/share/attest/real" -name '*.safetensors' | wc -l)
# One less than the source tree has, so that it is seen which folder is read.
rm "$prefix/share/attest/real/uselite-moby-layer00-head00.safetensors"
(cd "$work" && "$prefix/bin/attest" doctor) >"$work/doctor"
expect_line "$work/doctor" "^real tensors +$((tensors - 1))\$"

# -- a project --------------------------------------------------------------------------------

# Without a false alarm of GCC 12 on strings (its bug 105651).
cmake -S "$project" -B "$work/build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" -DWITH_WRONG_KERNEL=ON \
  -DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-restrict' \
  -DCMAKE_C_FLAGS='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
ninja -C "$work/build" >"$work/built" || { tail -n 40 "$work/built" >&2; fail "it does not build"; }
! grep -rqF "$PWD/include" "$work/build/build.ninja" || fail "headers of the source tree are used"

# Every header that is installed finds those that it includes.
(cd "$prefix/include" && find attest attest-harness -name '*.hpp' | sort |
  sed 's|^attest-harness/||; s|.*|#include "&"|') >"$work/headers.cpp"
"$cxx" -std=c++20 -fsyntax-only -I "$prefix/include" -I "$prefix/include/attest-harness" \
  "$work/headers.cpp" || fail "a header is missing"

# A mistake in a list of laws is found when the project is configured.
mkdir "$work/misspelt"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(misspelt LANGUAGES CXX)' \
  'find_package(attest REQUIRED)' \
  'attest_add_kernel_test(NAME mine KERNEL builtin:textbook LAWS bound.*  bond.out)' \
  >"$work/misspelt/CMakeLists.txt"
! cmake -S "$work/misspelt" -B "$work/misspelt/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/misspelt/log" 2>&1 || fail "an unknown law was accepted"
expect_line "$work/misspelt/log" "no law matches 'bond.out'"

# A project in C alone.
mkdir "$work/c_alone"
cp "$project/plugin.c" "$work/c_alone"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(c_alone LANGUAGES C)' \
  'find_package(attest REQUIRED)' 'enable_testing()' 'add_library(alone MODULE plugin.c)' \
  'target_link_libraries(alone PRIVATE attest::plugin m)' \
  'attest_add_kernel_test(NAME alone KERNEL alone LAWS bound.out)' >"$work/c_alone/CMakeLists.txt"
{
  cmake -S "$work/c_alone" -B "$work/c_alone/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
  ninja -C "$work/c_alone/build"
  ctest --test-dir "$work/c_alone/build"
} >"$work/c_alone/log" 2>&1 || { tail -n 40 "$work/c_alone/log" >&2; fail "a project in C"; }
expect_line "$work/c_alone/log" ' alone.bound.out \.* +Passed'

tests() {
  ctest --test-dir "$work/build" --output-on-failure -j2 "$@"
}
tests -E '^wrong(_[a-z]+)?[.]|WrongKernel' >"$work/right" || { cat "$work/right" >&2; fail "a test failed"; }
expect_line "$work/right" '^100% tests passed'
for test in mine.bound.out mine.mask.causal_prefix builtin.bound.lse plugin.mask.causal_prefix Keys/Loop.GivesAttention/40 \
  Mine_Bounds.bound_out mine_properties fuzz_mine_corpus; do
  expect_line "$work/right" " $test \.* +Passed"
done
# RC_PARAMS, which the project sets for its property, is heard.
(cd "$work" && RC_PARAMS='seed=7 max_success=3' ./build/mine_properties) >"$work/property" 2>&1
expect_line "$work/property" 'OK, passed 3 tests'
# What a kernel does not declare is no pass.
expect_line "$work/right" ' mine.gradient.dq \.*\*+Skipped'

# finds_the_bug NAME: the test of a wrong kernel fails, and ends with a command that says the same.
finds_the_bug() {
  ! tests -R "^$1.bound.out\$" >"$work/$1" || fail "the wrong kernel passed: $1"
  expect_line "$work/$1" '^FAIL bound.out '
  expect_line "$work/$1" '^  bound +[0-9]'
  replay=$(sed -n 's/^replay  *//p' "$work/$1" | head -n 1)
  [ -n "$replay" ] || fail "there is no replay line: $1"
  # From a folder of no meaning.
  ! (cd "$work/misspelt" && sh -c "$replay") >"$work/$1.again" || fail "the replay passed: $replay"
  expect_line "$work/$1.again" '^FAIL bound.out '
}
finds_the_bug wrong
finds_the_bug wrong_plugin
if grep -q '^PYTHON_WITH_NUMPY:.*=/' "$work/build/CMakeCache.txt"; then
  expect_line "$work/right" ' piped.bound.lse \.* +Passed'
  finds_the_bug wrong_piped
else
  echo 'install_test: the kernel behind a pipe was not tried: no python3 with numpy'
fi
! tests -R 'WrongKernel.*/40$' >"$work/expect" || fail "EXPECT_ATTENTION accepts a wrong kernel"
expect_line "$work/expect" '^bound.out: fail$'
expect_line "$work/expect" '^  acts like |^  element '

# -- packages ---------------------------------------------------------------------------------

command -v dpkg >/dev/null || { echo 'install_test: packages not looked at: no dpkg'; exit 0; }
# Every header that the project read and every library that it was linked with belongs to a package
# that libattest-dev depends on or recommends, or that comes with the compiler.
depends=$(sed -n 's/^set(CPACK_DEBIAN_DEV_PACKAGE_\(DEPENDS\|RECOMMENDS\) "\(.*\)")$/\2/p' cmake/package.cmake |
  tr ',' '\n' | sed 's/^ *//; s/ .*//')
{
  ninja -C "$work/build" -t deps | sed -n 's/^ *\(\/usr\/include\/.*\)/\1/p'
  ldd "$work/build/mine_test" "$work/build/mine_attest" | sed -n 's/.*=> \(\/.*\) (.*/\1/p'
} | sort -u | xargs -r realpath >"$work/used"
xargs dpkg -S <"$work/used" 2>/dev/null | sed 's/^\([^:]*\):.*/\1/' | sort -u >"$work/used_packages"
expect_line "$work/used_packages" '^libmpfr'
while read -r package; do
  case $package in
    libstdc++* | gcc* | libc6* | libgcc* | linux-libc-dev | g++*) continue ;; # with g++
  esac
  found=
  for depend in $depends; do
    # The development package itself, or what it depends on.
    [ "$package" = "$depend" ] && found=yes && break
    if dpkg-query -W -f '${Depends}\n' "$depend" 2>/dev/null | tr ',|' '\n' |
      sed 's/^ *//; s/[ :].*//' | grep -qxF "$package"; then
      found=yes
      break
    fi
  done
  [ -n "$found" ] || fail "$package is used, and libattest-dev does not depend on it"
done <"$work/used_packages"

# cpack asks both of them which packages the program needs.
for tool in dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null || { echo "install_test: packages not made: no $tool"; exit 0; }
done
(cd "$build" && cpack --config CPackConfig.cmake -B "$work/debs" \
  -D CPACK_OUTPUT_FILE_PREFIX="$work/debs") >"$work/packed" 2>&1 || { cat "$work/packed" >&2; fail "cpack"; }
for package in attest libattest-dev; do
  dpkg-deb -c "$work"/debs/${package}_*.deb >"$work/$package.files"
  dpkg-deb -f "$work"/debs/${package}_*.deb Depends >"$work/$package.depends"
done
expect_line "$work/attest.files" ' [.]/usr/bin/attest$'
expect_line "$work/attest.files" ' [.]/usr/share/man/man1/attest[.]1$'
! grep -Eq 'include|[.]a$|cmake' "$work/attest.files" || fail "the package of the program has more"
expect_line "$work/libattest-dev.files" '/cmake/attest/attestConfig[.]cmake$'
! grep -q 'bin/attest' "$work/libattest-dev.files" || fail "both packages have the program"
expect_line "$work/attest.depends" 'libc6 .*libmpfr6 .*libtbb12 '
expect_line "$work/libattest-dev.depends" '^attest [(]= '
echo "install_test: all well; packages used: $(tr '\n' ' ' <"$work/used_packages")"
