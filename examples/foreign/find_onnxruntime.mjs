// onnxruntime-node, from where `./run bench` and `./run foreign` put it, else as Node finds it.
// Alone, the program says whether it is there.
import { createRequire } from "node:module";

export function onnxruntime() {
  const here = import.meta.url;
  try {
    return createRequire(new URL("../../build/bench_npm/", here))("onnxruntime-node");
  } catch {
    return createRequire(here)("onnxruntime-node");
  }
}

onnxruntime();
