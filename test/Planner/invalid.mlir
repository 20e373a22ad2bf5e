// RUN: dtc-opt %s -dtc-plan-memory -split-input-file -verify-diagnostics

// expected-error@+1 {{calls itself: its frame would have no end}}
func.func private @a(%x: memref<4xf32>) {
  rt.call @a ins(%x : memref<4xf32>)
  return
}
