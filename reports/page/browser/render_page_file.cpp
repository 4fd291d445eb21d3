// render_page_file DATA PAGE: the page of a JSON, for the test in the browser.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "reports/render_page.hpp"

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: render_page_file DATA PAGE\n";
    return 2;
  }
  std::ifstream data(arguments[1], std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(data), {}};
  std::ofstream page(arguments[2], std::ios::binary);
  page << attest::reports::render_report_page(json) << std::flush;
  if (data && page) return 0;
  std::cerr << "render_page_file: cannot read or write\n";
  return 1;
}
