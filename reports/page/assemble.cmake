# Puts the page together from its parts, at build time:
#   cmake -DPAGE_DIR=. -DVEGA_DIR=... -DOUTPUT_DIR=... -P assemble.cmake
# Writes page_before_data.html and page_after_data.html; the JSON of a run goes between the two.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/parts.cmake)

# Debian builds Vega as one file a module, each in the universal form, and no file that joins them.
# Inside a function with `exports` and `require` such a file is a module.
set(vega "'use strict';\nglobalThis.vega = (() => {\nconst modules = {};\n")
string(APPEND vega "const require = (name) => modules[name === 'vega-selections' ? 'vega-selection' : name];\n")
foreach(name IN LISTS vega_modules)
  file(READ ${VEGA_DIR}/vega-${name}.min.js code)
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" code "${code}")
  string(APPEND vega "modules['vega-${name}'] = {};\n"
    "(function (exports, module) {\n${code}\n}).call(globalThis, modules['vega-${name}'], {});\n")
endforeach()
string(APPEND vega "return Object.assign({}, ...Object.values(modules), {transforms: Object.assign(\n"
  "  modules['vega-dataflow'].transforms, modules['vega-transforms'],\n"
  "  modules['vega-view-transforms'], modules['vega-encode'])});\n})();\n")

set(script "(() => {\n'use strict';\n")
foreach(name IN LISTS page_scripts)
  file(READ ${PAGE_DIR}/${name}.js code)
  string(APPEND script "\n${code}")
endforeach()
string(APPEND script "})();\n")

set(style "")
foreach(name IN LISTS page_styles)
  file(READ ${PAGE_DIR}/${name}.css code)
  string(APPEND style "${code}")
endforeach()
file(READ ${PAGE_DIR}/dark.css dark)
string(REPLACE "/* @dark@ */" "${dark}" style "${style}")

# content_hash(TEXT RESULT): the source expression of a content security policy. Three hexadecimal
# digits are two of base 64; the 256 bits end two bits before the last of these.
function(content_hash text result)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hash "${text}")
  set(encoded "")
  foreach(begin RANGE 0 63 3)
    string(SUBSTRING "${hash}00" ${begin} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING "${digits}" ${high} 1 high)
    string(SUBSTRING "${digits}" ${low} 1 low)
    string(APPEND encoded "${high}${low}")
  endforeach()
  string(SUBSTRING "${encoded}" 0 43 encoded)
  set(${result} "'sha256-${encoded}='" PARENT_SCOPE)
endfunction()

foreach(part IN ITEMS vega script style)
  if("${${part}}" MATCHES "</(script|style)|<!--")
    message(FATAL_ERROR "the ${part} of the page holds text that would end its element")
  endif()
  content_hash("${${part}}" ${part}_hash)
endforeach()

file(READ ${PAGE_DIR}/page.html page)
file(READ ${PAGE_DIR}/licence_of_vega.txt licence)
foreach(part IN ITEMS vega_hash script_hash style_hash licence style script vega)
  string(REPLACE "@${part}@" "${${part}}" page "${page}")
endforeach()

string(FIND "${page}" "@data@" data)
if(data LESS 0)
  message(FATAL_ERROR "page.html has no place for the data")
endif()
string(SUBSTRING "${page}" 0 ${data} before)
math(EXPR data "${data} + 6")
string(SUBSTRING "${page}" ${data} -1 after)
file(WRITE ${OUTPUT_DIR}/page_before_data.html "${before}")
file(WRITE ${OUTPUT_DIR}/page_after_data.html "${after}")
