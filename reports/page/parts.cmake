# What the page is made of, in order.

# Modules of libjs-vega, each after those that it needs.
set(vega_modules
  util time format loader dataflow statistics transforms scale canvas scenegraph view-transforms
  encode expression selection functions event-selector parser runtime view interpreter)

# Later ones override earlier ones.
set(page_styles colours page head controls tables plots media)

# They share one function: what one file defines, all see.
set(page_scripts
  format elements data filter tables plots
  head laws ratio_plot ulp_plot heat_plot bias_plot matrices witnesses history accuracy sweep environment
  main)
