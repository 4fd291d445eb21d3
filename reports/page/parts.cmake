# What the page is made of, in order.

# Modules of libjs-vega, each after those that it needs.
set(vega_modules
  util time format loader dataflow statistics transforms view-transforms scale canvas scenegraph
  encode expression selection functions event-selector parser runtime view interpreter)

set(page_styles page)

# They share one function: what one file defines, all see.
set(page_scripts main)
