// RUN: not dtc-opt %s -dtc-lower-to-runtime=vector-bits=7 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not dtc-opt %s -dtc-lower-to-runtime=bucket-bytes=0 2>&1 | FileCheck %s --check-prefix=BUCKET

// BITS: error: vector-bits is 7, but may be 128, 256 or 512
// BUCKET: error: bucket-bytes is 0, but must be at least 1
module {
  func.func @step() { return }
}
